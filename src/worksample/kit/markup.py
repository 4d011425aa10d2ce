"""Readers of XML and SVG files. They refuse entities, and they never read other files or the network."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from .source import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

XML_LIMIT = 8 << 20
"""Maximum size of an XML file in bytes."""
ELEMENT_LIMIT = 500_000


def read_xml(path: Path, limit: int = XML_LIMIT) -> Element:
    """Return the root element of an XML file. Raises UnreadableSource if the XML is malformed, declares entities,
    refers to other files, or exceeds a limit.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    data = read_bytes(path, limit)
    try:
        root: Element = fromstring(data, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException as error:
        raise UnreadableSource(f"holds forbidden XML: {type(error).__name__}") from error
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableSource(f"is not XML: {error}") from error
    except RecursionError as error:
        raise UnreadableSource("is nested too deeply") from error
    if sum(1 for _ in root.iter()) > ELEMENT_LIMIT:
        raise UnreadableSource(f"has more than {ELEMENT_LIMIT:,} elements")
    return root


def local_name(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def read_svg(path: Path) -> Element:
    """Return the root element of an SVG picture. Raises UnreadableSource if the file is not valid XML (see `read_xml`)
    or its root is not `svg`.
    """
    root = read_xml(path)
    if local_name(root) != "svg":
        raise UnreadableSource(f"is not an SVG: its root is {local_name(root)!r}")
    return root


def shapes(root: Element) -> Counter[str]:
    """Count the elements below and including `root`, by element name."""
    return Counter(local_name(e) for e in root.iter() if isinstance(e.tag, str))


def texts(root: Element) -> list[str]:
    """Return the contents of all `text` elements of an SVG picture, in document order, with single spaces."""
    found = (" ".join("".join(e.itertext()).split()) for e in root.iter() if local_name(e) == "text")
    return [t for t in found if t]

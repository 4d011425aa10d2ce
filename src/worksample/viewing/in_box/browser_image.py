"""Converter of pictures that browsers show without conversion. It only measures them."""

from __future__ import annotations

import io
import re

from .conversion_job import READERS_FAULTS, ConversionJob, Unreadable, ViewDraft, fault

PIXELS = 100_000_000
"""Maximum pixels of a picture that a browser can show."""


def convert(job: ConversionJob) -> ViewDraft:
    return _svg(job) if job.family == "svg" else _picture(job)


def _picture(job: ConversionJob) -> ViewDraft:
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(job.file) as image:
            width, height = image.size
            frames = getattr(image, "n_frames", 1)
            meta = {"format": image.format, "width": width, "height": height, "frames": frames, "mode": image.mode}
            if width * height > PIXELS:
                raise Unreadable(f"the picture has {width:,} x {height:,} pixels, more than can be shown")
            problem = _fault(image) if width * height * frames <= PIXELS else ""
    except UnidentifiedImageError as e:
        raise Unreadable("the picture is damaged: its header cannot be read") from e
    except Unreadable:
        raise
    except READERS_FAULTS as e:
        raise fault(e, "the picture") from e
    return ViewDraft("image", meta=meta, problem=problem)


def _fault(image: object) -> str:
    """Return a description of damaged pixels, or "". Browsers show a truncated picture without a warning."""
    try:
        image.load()  # type: ignore[attr-defined]
    except READERS_FAULTS as e:
        return f"the picture is damaged and shown as far as it goes: {str(e)[:200]}"
    return ""


def _svg(job: ConversionJob) -> ViewDraft:
    """Return the view of an SVG. Browsers show it only as `<img>`, which runs no scripts and loads no other files."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    tags = scripts = handlers = far = 0
    root: dict[str, str] = {}
    try:
        for _, element in iterparse(io.BytesIO(job.head(32 << 20)), events=("start",)):
            tags += 1
            if tags == 1:
                root = dict(element.attrib)
            scripts += element.tag.rsplit("}", 1)[-1].lower() in ("script", "foreignobject")
            for name, value in element.attrib.items():
                handlers += name.lower().startswith("on")
                far += name.endswith("href") and bool(re.match(r"\s*(?:https?:)?//", value, re.I))
    except DefusedXmlException as e:
        raise Unreadable("the SVG is not shown: it defines entities, which could use up all memory") from e
    except (ParseError, ValueError, LookupError) as e:
        raise Unreadable(f"the SVG is damaged: {e}") from e
    meta = {"format": "SVG", "elements": tags, "scripts": scripts + handlers, "external": far}
    meta |= {k: root[k][:40] for k in ("width", "height", "viewBox") if k in root}
    said = []
    if scripts + handlers:
        said.append(f"{scripts + handlers} scripts or embedded pages in it, which do not run")
    if far:
        said.append(f"{far} outside files that it wants, which are not loaded")
    return ViewDraft("image", meta=meta, problem="; ".join(said))

"""Workbooks reduced to their values, for files that spreadsheet programs open but a reader rejects.

Rules, colours, filters, drawings and properties are left out; sheets, cells, shared strings and date formats stay.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from typing import IO

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(officeDocument|spreadsheetml|drawingml)/")
_BOOK = "xl/workbook.xml"
_KEPT = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|xl/workbook\.xml|xl/_rels/workbook\.xml\.rels|xl/styles\.xml"
    r"|xl/sharedStrings\.xml|xl/(?:worksheets|chartsheets)/[^/]+\.xml",
    re.IGNORECASE,
)
_ROOT = re.compile(rb"<((?:[\w.-]+:)?)(worksheet|chartsheet|workbook|styleSheet)(?=[\s/>])[^<>]*>")
_FORMAT = re.compile(rb'<(?:[\w.-]+:)?xf(?=[\s/>])[^<>]*?\snumFmtId\s*=\s*["\'](\d{1,9})["\']')
_XF = re.compile(rb"<(?:[\w.-]+:)?xf(?=[\s/>])[^<>]*>")
_NUMBER_FORMAT = re.compile(rb"<(?:[\w.-]+:)?numFmt(?=[\s/>])[^<>]*>")
_ATTRIBUTE = re.compile(rb'\s(numFmtId|formatCode)\s*=\s*("[^"]*"|\'[^\']*\')')
_NO_RELATIONS = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
_STYLE = (
    b'<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts>%s</numFmts>'
    b'<fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills>'
    b'<borders count="1"><border/></borders>'
    b'<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    b'<cellXfs>%s</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    b"</styleSheet>"
)


def values_only(file: IO[bytes]) -> io.BytesIO:
    """Return the workbook with only its values, and with names and namespaces of the transitional standard.

    Raises ValueError if two names inside it become equal.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as kept:
        seen: set[str] = set()
        for member in archive.infolist():
            name = member.orig_filename.replace("\\", "/").lstrip("/")
            if not _KEPT.fullmatch(name):
                continue
            if name in seen:
                raise ValueError(f"the workbook has two parts with the name {name[:60]!r}")
            seen.add(name)
            kept.writestr(name, _values_part(archive.read(member)))
            if name.startswith("xl/chartsheets/"):
                folder, _, own = name.rpartition("/")
                kept.writestr(f"{folder}/_rels/{own}.rels", _NO_RELATIONS)
    made.seek(0)
    return made


def is_strict(file: IO[bytes]) -> bool:
    """Return whether a workbook follows the strict standard, whose namespaces readers do not understand."""
    with zipfile.ZipFile(file) as archive:
        if _BOOK not in archive.namelist():
            return False
        with archive.open(_BOOK) as part:
            return _STRICT.search(part.read(4096)) is not None


def well_formed(file: IO[bytes]) -> bool:
    """Return whether all parts of a workbook are XML. If so, a program that cannot open it is at fault."""
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith((".xml", ".rels"))]
        for name in names:
            with archive.open(name) as part:
                if not _is_xml(part):
                    return False
    return _BOOK in names and any(name.startswith("xl/worksheets/") for name in names)


def _is_xml(part: IO[bytes]) -> bool:
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, iterparse

    try:
        for _, element in iterparse(part, forbid_dtd=True):
            element.clear()
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return False
    return True


def _values_part(data: bytes) -> bytes:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data  # UTF-16, which few programs write
    data = _STRICT.sub(lambda found: b"http://schemas.openxmlformats.org/" + found[1] + b"/2006/", data)
    root = _ROOT.search(data)
    if root is None or not _is_xml(io.BytesIO(data)):
        return data
    mark, kind = root[1], root[2]
    if kind == b"styleSheet":
        return _formats(data)
    keep: Mapping[bytes, tuple[bytes, ...]] = {b"worksheet": (b"sheetData",), b"workbook": (b"workbookPr", b"sheets")}
    parts = [_element(data, mark + tag, root.end()) for tag in keep.get(kind, ())]
    head = root[0] if not root[0].endswith(b"/>") else root[0][:-2] + b">"
    return data[: root.start()] + head + b"".join(parts) + b"</" + mark + kind + b">"


def _element(data: bytes, tag: bytes, start: int) -> bytes:
    """Return an element of a part with its contents, or "" if the part lacks it."""
    begin = re.compile(rb"<" + re.escape(tag) + rb"(?=[\s/>])[^<>]*>").search(data, start)
    if begin is None or begin[0].endswith(b"/>"):
        return b"" if begin is None else begin[0]
    end = data.rfind(b"</" + tag, begin.end())
    close = data.find(b">", end)
    return data[begin.start() : close + 1] if end >= 0 and close >= 0 else data[begin.start() :]


def _formats(data: bytes) -> bytes:
    """Return the styles with number formats only, from which readers recognise dates."""
    numbers = []
    for found in _NUMBER_FORMAT.findall(data):
        about = dict(_ATTRIBUTE.findall(found))
        if {b"numFmtId", b"formatCode"} <= about.keys():
            numbers.append(b"<numFmt " + b" ".join(b"=".join(pair) for pair in about.items()) + b"/>")
    begin = re.search(rb"<(?:[\w.-]+:)?cellXfs(?=[\s/>])", data)
    end = data.find(b"cellXfs>", begin.end()) if begin is not None else -1
    cells = [] if begin is None else _XF.findall(data[begin.end() : end if end >= 0 else len(data)])
    ids = [found[1] if (found := _FORMAT.match(cell)) else b"0" for cell in cells] or [b"0"]
    xfs = b"".join(b'<xf numFmtId="%s" fontId="0" fillId="0" borderId="0" xfId="0"/>' % id for id in ids)
    return _STYLE % (b"".join(numbers), xfs)

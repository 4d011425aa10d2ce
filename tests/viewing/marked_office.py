"""Documents that say who made them in every place that their format has for it."""

from __future__ import annotations

import base64
import io
import subprocess
from collections.abc import Callable
from pathlib import Path

from viewing.marked_pictures import WHO, jpeg, photograph, png
from viewing.material import packed


def pdf() -> bytes:
    import pikepdf

    start = io.BytesIO()
    photograph((90, 60)).save(start, "PDF", title=WHO, author=WHO, producer=WHO, creator=WHO, subject=WHO)
    with pikepdf.open(io.BytesIO(start.getvalue())) as document:
        with document.open_metadata() as meta:
            meta["dc:creator"] = [WHO]
            meta["pdf:Producer"] = WHO
        page = document.pages[0]
        for thing in document.objects:
            if isinstance(thing, pikepdf.Stream) and thing.get("/Filter") == pikepdf.Name.DCTDecode:
                thing.write(jpeg(subsampling=0), filter=pikepdf.Name.DCTDecode)
        private = pikepdf.Dictionary(Private=pikepdf.String(WHO))
        page.PieceInfo = pikepdf.Dictionary(Illustrator=private)
        rect = [10, 10, 30, 30]
        note = pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Text, Rect=rect, T=WHO, Contents="hello"
        )
        other = document.make_indirect(pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Square, Rect=rect, T=f"{WHO} the second",
        ))  # fmt: skip
        page.Annots = pikepdf.Array([note, other])
        document.trailer["/ID"] = pikepdf.Array([pikepdf.String(WHO), pikepdf.String(WHO)])
        out = io.BytesIO()
        document.save(out, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return out.getvalue()


_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_P = "http://schemas.openxmlformats.org/package/2006"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def docx(text: str = "A report, signed by nobody") -> bytes:
    body = (
        f'<w:p><w:r><w:t>{text}</w:t></w:r><w:ins w:id="1" w:author="{WHO}" w:date="2020-01-01T00:00:00Z"><w:r><w:t>'
        f' and more</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> w:author="x" stays</w:t></w:r></w:p>'
    )
    core = (
        f'<cp:coreProperties xmlns:cp="{_P}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:creator>{WHO}</dc:creator><cp:lastModifiedBy>{WHO}</cp:lastModifiedBy></cp:coreProperties>"
    )
    app = (
        '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
        f"<Company>{WHO}</Company><Application>{WHO}</Application></Properties>"
    )
    comment = f'<w:comment w:id="1" w:author="{WHO}" w:initials="{WHO}"><w:p/></w:comment>'
    comments = f'<w:comments xmlns:w="{_W}">{comment}</w:comments>'
    relations = (
        f'<Relationship Id="r1" Type="{_R}/officeDocument" Target="word/document.xml"/>'
        f'<Relationship Id="r2" Type="{_P}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
        f'<Relationship Id="r3" Type="{_R}/extended-properties" Target="docProps/app.xml"/>'
    )
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    types = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/><Default Extension="jpg" ContentType="image/jpeg"/>'
        f'<Override PartName="/word/document.xml" ContentType="{word}.document.main+xml"/>'
        '<Override PartName="/docProps/core.xml" '
        'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>'
    )
    people = f'<w15:people xmlns:w15="p"><w15:person w15:author="{WHO}"><w15:presenceInfo w15:userId="{WHO}"/></w15:person></w15:people>'  # noqa: E501
    return packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{_P}/content-types">{types}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{_P}/relationships">{relations}</Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
            "word/comments.xml": comments,
            "word/people.xml": people,
            "word/media/image1.jpg": jpeg(),
            "word/embeddings/inner.xlsx": xlsx(),
            "docProps/core.xml": core,
            "docProps/app.xml": app,
            "docProps/custom.xml": f"<Properties><property name='x'>{WHO}</property></Properties>",
        }
    )


def xlsx() -> bytes:
    import openpyxl
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    book.properties.creator = book.properties.lastModifiedBy = WHO
    book.properties.title = "sums"
    sheet = book.active
    assert sheet is not None
    for row in range(1, 6):
        sheet.append([row, row * row])
    sheet["A1"].comment = Comment("look here", WHO)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


_ODF = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in (
        ("office", "office"),
        ("text", "text"),
        ("meta", "meta"),
        ("draw", "drawing"),
        ("config", "config"),
    )
)
_ODF += ' xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.2"'
_ANNOTATED = (
    f"<text:p>A letter<office:annotation><dc:creator>{WHO}</dc:creator><meta:creator-initials>{WHO}"
    "</meta:creator-initials><text:p>why?</text:p></office:annotation></text:p>"
)
_ABOUT = f"<office:meta><dc:creator>{WHO}</dc:creator><meta:initial-creator>{WHO}</meta:initial-creator></office:meta>"


def odt() -> bytes:
    kind = "application/vnd.oasis.opendocument.text"
    settings = f'<config:config-item config:name="PrinterName" config:type="string">{WHO}</config:config-item>'
    manifest = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{type}"/>'
        for path, type in (
            ("/", kind),
            ("content.xml", "text/xml"),
            ("meta.xml", "text/xml"),
            ("settings.xml", "text/xml"),
            ("Pictures/1.png", "image/png"),
        )
    )
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"'
    return packed(
        {
            "mimetype": kind,
            "content.xml": f"<office:document-content {_ODF}><office:body><office:text>{_ANNOTATED}</office:text>"
            "</office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {_ODF}>{_ABOUT}</office:document-meta>",
            "settings.xml": f"<office:document-settings {_ODF}>{settings}</office:document-settings>",
            "Pictures/1.png": png(),
            "META-INF/manifest.xml": f"<manifest:manifest {space}>{manifest}</manifest:manifest>",
            "META-INF/documentsignatures.xml": f"<x>{WHO}</x>",
        }
    )


def fodt() -> bytes:
    picture = f"<office:binary-data>{base64.b64encode(png()).decode()}</office:binary-data>"
    frame = f"<text:p><draw:frame><draw:image>{picture}</draw:image></draw:frame></text:p>"
    kind = 'office:mimetype="application/vnd.oasis.opendocument.text"'
    body = f"<office:body><office:text>{_ANNOTATED}{frame}</office:text></office:body>"
    return f'<?xml version="1.0"?><office:document {_ODF} {kind}>{_ABOUT}{body}</office:document>'.encode()


def rtf() -> bytes:
    return (
        rf"{{\rtf1\ansi{{\info{{\author {WHO}}}{{\company a \}} {WHO}}}}}{{\*\generator {WHO};}}"
        rf"{{\*\revtbl {{Unknown;}}{{{WHO};}}}}\pard A letter{{\revised\revauth1  with more}}\par}}"
    ).encode()


def older(folder: Path, extension: str, source: bytes, name: str) -> bytes:
    """As LibreOffice writes Word's and Excel's files of before 2007."""
    (folder / name).write_bytes(source)
    words = [
        "soffice",
        "--headless",
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        "--convert-to",
        extension,
    ]
    subprocess.run([*words, "--outdir", str(folder), str(folder / name)], check=True, capture_output=True, timeout=120)
    return (folder / name).with_suffix(f".{extension}").read_bytes()


OFFICE: dict[str, Callable[[], bytes]] = {
    "report.docx": docx,
    "sums.xlsx": xlsx,
    "letter.odt": odt,
    "flat.fodt": fodt,
    "letter.rtf": rtf,
}

"""Documents as agents create them: pictures, slides, forms and texts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from PIL import Image

from formats.tac_workspace_states import Files


def picture(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 40), colour).save(out, "PNG")
    return out.getvalue()


def charts(colour: str) -> Files:
    return {"2011_pie.png": picture(colour), "2016_bar.png": picture(colour)}


def docx(lines: Sequence[str]) -> bytes:
    """Return a docx with these paragraphs."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as parts:
        parts.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    return out.getvalue()


def sheet(answers: Sequence[str]) -> Files:
    """Return an analysis sheet with these answers, and the paper that it is about."""
    text = "\n".join(f"Question {n}: {answer}" for n, answer in enumerate(answers, 1))
    return {"noise_simulation_analysis_sheet.txt": text.encode(), "noise_simulation_paper.pdf": b"%PDF-1.4"}


def odt(lines: Sequence[str]) -> bytes:
    from odf.opendocument import OpenDocumentText
    from odf.text import P

    made, out = OpenDocumentText(), io.BytesIO()
    for line in lines:
        made.text.addElement(P(text=line))
    made.save(out)
    return out.getvalue()


def slides(colour: str) -> bytes:
    """Return five slides with a picture each."""
    from pptx import Presentation
    from pptx.util import Inches

    made, out = Presentation(), io.BytesIO()
    for _ in range(5):
        slide = made.slides.add_slide(made.slide_layouts[6])
        slide.shapes.add_picture(io.BytesIO(picture(colour)), Inches(1), Inches(1))
    made.save(out)
    return out.getvalue()


def form(fields: Mapping[str, str]) -> bytes:
    """Return a page with a form whose text fields are filled in."""
    from pypdf import PdfWriter
    from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, TextStringObject

    writer, out = PdfWriter(), io.BytesIO()
    page = writer.add_blank_page(595, 842)
    made = ArrayObject()
    for number, (name, value) in enumerate(fields.items()):
        box = (20, 820 - number * 12, 300, 830 - number * 12)
        field = DictionaryObject({
            NameObject("/Type"): NameObject("/Annot"), NameObject("/Subtype"): NameObject("/Widget"),
            NameObject("/FT"): NameObject("/Tx"), NameObject("/T"): TextStringObject(name),
            NameObject("/V"): TextStringObject(value), NameObject("/F"): FloatObject(4),
            NameObject("/Rect"): ArrayObject([FloatObject(n) for n in box]),
        })  # fmt: skip
        made.append(writer._add_object(field))
    page[NameObject("/Annots")] = made
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): ArrayObject(made)})
    writer.write(out)
    return out.getvalue()

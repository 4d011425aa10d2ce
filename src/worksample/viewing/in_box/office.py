"""Documents and slides: printed to PDF by LibreOffice with a separate profile and macros off."""

from __future__ import annotations

import re
import shutil
import zipfile
import zlib
from pathlib import Path

from worksample.viewing.in_box.conversion_job import ConversionJob, ConverterFault, Unreadable, ViewDraft, program, run
from worksample.viewing.in_box.pdf import pages_of

PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel"><value>3</value>\
</prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution">\
<value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks">\
<value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link"><value>1</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode"><value>0</value></prop>\
</item>
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="ODFRecalcMode"><value>0</value></prop></item>
</oor:items>
"""
"""Settings of LibreOffice: no macros, no links, formulas always recalculated."""


CONTROL = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>sound</text:p></office:text></office:body></office:document>
"""
"""A document that any working LibreOffice can open. If LibreOffice fails with this document, too, the file is not to
blame for the failure.
"""


def convert(job: ConversionJob) -> ViewDraft:
    pdf = convert_to(job, without_comments(job, job.copy_as(extension(job))), "pdf", seconds=120)
    target = job.out / "print.pdf"
    shutil.move(pdf, target)
    return ViewDraft(
        "pdf", {"pdf": job.output_path(target)}, pages_of(target) | {"from": job.extension}, by="libreoffice"
    )


def extension(job: ConversionJob) -> str:
    """Return the extension for LibreOffice; the detected content decides whether it is used."""
    known = (
        "doc docx docm dot dotx odt ott rtf ppt pptx pptm pps ppsx odp otp xls xlsx xlsm xlsb ods odg fodt fods fodp"
    )
    return job.extension if job.extension in known.split() else "bin"


def convert_to(job: ConversionJob, source: Path, target: str, *, seconds: int, options: str = "") -> Path:
    """Convert a file with LibreOffice and return the result. Raises Unreadable if the file is to blame for a failure;
    MissingConverter if LibreOffice is missing; ConverterFault if LibreOffice can convert nothing.
    """
    made, said = _run_libreoffice(job, source, job.work / f"to-{target}", target, seconds, options)
    if made is None:
        control = job.work / f"control-{target}.{'csv' if target == 'xlsx' else 'fodt'}"
        control.write_text("1\n" if target == "xlsx" else CONTROL, encoding="utf-8")
        if _run_libreoffice(job, control, job.work / "control", target, seconds, "")[0] is None:
            raise ConverterFault(f"LibreOffice converts nothing on this server, not even a sound file: {said[:200]}")
        raise Unreadable(f"LibreOffice cannot open the file: {said[:300]}")
    return made


def _run_libreoffice(
    job: ConversionJob, source: Path, out: Path, target: str, seconds: int, options: str
) -> tuple[Path | None, str]:
    """Run LibreOffice with a separate profile. Return the converted file, or None, and its messages."""
    soffice = program("soffice", "libreoffice")
    profile = job.work / f"profile-{out.name}"
    if not profile.exists():
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(PROFILE, encoding="utf-8")
    out.mkdir(exist_ok=True)
    words = [soffice, "--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo"]
    words += [f"-env:UserInstallation={profile.as_uri()}", "--convert-to", target + (f":{options}" if options else "")]
    ran = run([*words, "--outdir", str(out), str(source)], seconds=seconds, cwd=job.work)
    # Its exit code is always 0, so check for the file.
    made = next((found for found in out.glob(f"*.{target}") if found.stat().st_size), None)
    return made, ran.err


_COMMENT = re.compile(rb"<w:commentReference\b[^>]*/>")
_TEXT = "word/document.xml"
MOST = 256 << 20
"""Maximum unpacked bytes of all parts of a document. A larger document is printed without removing comments."""


def without_comments(job: ConversionJob, source: Path, most: int = MOST) -> Path:
    """Return a copy of a Word document without references to comments, because comments are not printed anyway and
    LibreOffice 7.4 loses the footnotes of a document with comments.

    Return the source if it needs no change.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
            names = {part.filename for part in parts}
            if not {_TEXT, "word/comments.xml"} <= names or sum(part.file_size for part in parts) > most:
                return source
            text, found = _COMMENT.subn(b"", archive.read(_TEXT))
            if not found:
                return source
            copy = job.work / f"printed{source.suffix}"
            with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
                for part in parts:
                    made.writestr(part.filename, text if part.filename == _TEXT else archive.read(part))
            return copy
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError):
        # Damaged, protected or unusual files: LibreOffice decides what can be read.
        return source

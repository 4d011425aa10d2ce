"""Word processing and slides: printed to PDF by LibreOffice, in a profile of its own and with macros off."""

from __future__ import annotations

import shutil
from pathlib import Path

from .comments import without_comments
from .job import Job, Made, Unreadable, program, run
from .pdf import pages_of

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
"""Macros never run, links are never followed, formulas are always calculated."""


def convert(job: Job) -> Made:
    pdf = to(job, without_comments(job, job.named(extension(job))), "pdf", timeout=120)
    target = job.out / "print.pdf"
    shutil.move(pdf, target)
    return Made("pdf", {"pdf": job.made(target)}, pages_of(target) | {"from": job.extension}, by="libreoffice")


def extension(job: Job) -> str:
    """The name's extension where LibreOffice may go by it; its content is what counts."""
    known = (
        "doc docx docm dot dotx odt ott rtf ppt pptx pptm pps ppsx odp otp xls xlsx xlsm xlsb ods odg fodt fods fodp"
    )
    return job.extension if job.extension in known.split() else "bin"


def to(job: Job, source: Path, target: str, *, timeout: float, options: str = "") -> Path:
    """Convert a file. Raises Unreadable, Missing."""
    soffice = program("soffice", "libreoffice")
    profile = job.work / "profile"
    if not profile.exists():
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(PROFILE, encoding="utf-8")
    out = job.work / f"to-{target}"
    out.mkdir(exist_ok=True)
    words = [soffice, "--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo"]
    words += [f"-env:UserInstallation={profile.as_uri()}", "--convert-to", target + (f":{options}" if options else "")]
    ran = run([*words, "--outdir", str(out), str(source)], timeout=timeout, cwd=job.work)
    made = next(iter(out.glob(f"*.{target}")), None)
    # It ends with 0 whatever happens, so only the file tells.
    if made is None or made.stat().st_size == 0:
        raise Unreadable(f"LibreOffice cannot open it: {ran.err[:300]}")
    return made

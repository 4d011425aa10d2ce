"""TeX: its source, and a preview by pandoc, which knows no packages and runs nothing."""

from __future__ import annotations

from . import text
from .job import Job, Made, program, run


def convert(job: Job) -> Made:
    pandoc = program("pandoc", "pandoc")
    made = text.convert(job)
    made.kind = "tex"
    source = (job.out / "text.txt").read_bytes()
    words = [pandoc, "--sandbox", "--from=latex", "--to=html5", "--mathml", "+RTS", "-M768m", "-RTS"]
    ran = run(words, input=source, timeout=60, cwd=job.work)
    made.by = "pandoc"
    if ran.ok:
        made.files["html"] = job.keep("preview.html", ran.out)
    else:
        made.problem = f"no preview could be made: {ran.err[:300]}"
        made.badge = "native"
    made.beside = [job.name.rsplit(".", 1)[0] + ".pdf"]
    return made

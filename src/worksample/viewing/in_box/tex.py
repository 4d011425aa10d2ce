"""Converter of TeX files: shows the source and a preview by pandoc. Pandoc supports no TeX packages and runs no
commands.
"""

from __future__ import annotations

from . import text_file as text
from .conversion_job import ConversionJob, ConverterFault, TooHeavy, ViewDraft, program, run


def convert(job: ConversionJob) -> ViewDraft:
    pandoc = program("pandoc", "pandoc")
    made = text.convert(job)
    made.kind = "tex"
    source = (job.out / "text.txt").read_bytes()
    words = [pandoc, "--sandbox", "--from=latex", "--to=html5", "--mathml", "+RTS", "-M768m", "-RTS"]
    try:
        ran = run(words, input=source, seconds=60, cwd=job.work)
        why = "" if ran.ok else ran.err[:300]
    except (TooHeavy, ConverterFault) as e:
        why = str(e)
        made.lacks = "crashed" if isinstance(e, ConverterFault) else ""
    if why:
        made.problem, made.badge = f"no preview could be made: {why}", "native"
    else:
        made.files["html"], made.by = job.write_artefact("preview.html", ran.out), "pandoc"
    made.beside = [job.name.rsplit(".", 1)[0] + ".pdf"]
    return made

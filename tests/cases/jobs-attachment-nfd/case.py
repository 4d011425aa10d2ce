"""An outside case: an attachment whose name macOS wrote with accents apart was "no such file"."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from worksample.errors import ImportFailed
from worksample.formats.jobs import ImportJobs, import_jobs

NAME = unicodedata.normalize("NFC", "Entwürfe für Café.pdf")


def check(room: Path, request: Any) -> None:
    for form in ("NFD", "NFC"):
        folder = room / form
        (folder / unicodedata.normalize(form, "Anhänge")).mkdir(parents=True)
        (folder / unicodedata.normalize(form, "Anhänge") / unicodedata.normalize(form, NAME)).write_bytes(b"%PDF-1.4\n")
        other = unicodedata.normalize("NFC" if form == "NFD" else "NFD", f"Anhänge/{NAME}")
        table = folder / "jobs.csv"
        table.write_text(f"id,description,amount,attachments\n1,Draw a logo,900,{other}\n", encoding="utf-8")
        [made] = import_jobs(table, folder / "out", ImportJobs()).written
        assert len([*(folder / "out" / made / "inputs").iterdir()]) == 1
    table.write_text("id,description,attachments\n1,Draw,Anhänge/Entwürfe fur Cafe.pdf\n", encoding="utf-8")
    with pytest.raises(ImportFailed, match=r"no such file; did you mean 'Entwürfe für Café\.pdf'"):
        import_jobs(table, folder / "more", ImportJobs())

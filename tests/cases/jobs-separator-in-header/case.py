"""An outside case: commas and line ends in quoted names, and Excel's `sep=;`, were not read."""

from pathlib import Path
from typing import Any

from worksample.formats.jobs import ImportJobs, import_jobs

HOME = Path(__file__).parent


def check(room: Path, request: Any) -> None:
    named = room / "columns.toml"
    named.write_text('[columns]\ncontract = "Nr, intern"\ndescription = "Leistung, Text"\n', encoding="utf-8")
    assert len(import_jobs(HOME / "quoted.csv", room / "quoted", ImportJobs(mapping=named)).written) == 1
    named.write_text('[columns]\ncontract = "Nr. (intern)"\n', encoding="utf-8")
    assert len(import_jobs(HOME / "lines.csv", room / "lines", ImportJobs(mapping=named)).written) == 1
    assert len(import_jobs(HOME / "sep.csv", room / "sep", ImportJobs()).written) == 1

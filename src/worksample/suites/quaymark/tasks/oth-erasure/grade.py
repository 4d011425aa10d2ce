"""What is gone, what stays, and what is not touched; the answer to whoever asked."""

from __future__ import annotations

import hashlib
import re
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import check_closing, plain
from worksample.kit.traces import disclosures
from worksample.kit.workplace import Workplace

LISTS = {"newsletter": "customers/newsletter.csv", "visits": "customers/visits-2025.csv"}
NOTES, MAIL = "customers/notes-oakridge.txt", "customers/mail-bremer-2025-11-20.eml"
ANSWER = "customers/answers/bremer-2026-03.md"
ANSWERS = ("imani",)
HERS = r"\bjana\b|\bj\. bremer|j\.bremer@oakridge|\bjb\b|frau bremer"
WORDS = {"newsletter": r"newsletter", "visits": r"visit", "notes": r"note", "the mail": r"mail"}


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = case.ref_json("after.json")
    before = case.ref_json("before.json")

    @cache
    def lines(name: str) -> list[list[str]]:
        """The rows of a list, or the lines of the notes."""
        if name in LISTS:
            return [[_plain(cell) for cell in row.values()] for row in office.rows(LISTS[name]).rows]
        text = office.file(NOTES)[:100_000].decode("utf-8", "replace")
        return [[_plain(line)] for line in text.splitlines() if line.strip()]

    def wanted(name: str) -> list[list[str]]:
        return [[_plain(cell) for cell in (row if isinstance(row, list) else [row])] for row in right[name]]

    @cache
    def gone() -> dict[str, bool]:
        """What has nothing more of her, though it is there."""
        found = {
            name: not any(re.search(HERS, " ".join(row)) for row in lines(name))
            for name in ("newsletter", "visits", "notes")
        }
        return {**found, "the mail": MAIL not in office.files("*")}

    def known() -> list[str]:
        """Where she stood from the beginning, or the answer to her stands."""
        return [f"file {name}" for name in (*LISTS.values(), NOTES, MAIL, ANSWER, *before)]

    def deleted() -> Check:
        left = [name for name, is_gone in gone().items() if not is_gone]
        copies = disclosures(
            office, "jules", lambda text: re.search(HERS, text.casefold()), readers=ANSWERS, known=known()
        )
        copies = [
            place for place in copies if not place.startswith("issue ")
        ]  # a name in a comment is `closed`'s matter
        if copies:
            return Check(0.0, f"she stands in {', '.join(copies)}"[:300])
        return Check(1 - len(left) / len(gone()), f"she still stands in {', '.join(left)}" if left else "")

    def kept() -> Check:
        if sum(gone().values()) < 2:
            return Check(0.0, "nearly nothing was deleted")
        wrong = [name for name in (*LISTS, "notes") if _lost(wanted(name), lines(name))]
        files = set(office.files("*"))
        for name, digest in before.items():
            if name not in files or hashlib.sha256(office.file(name)).hexdigest() != digest:
                wrong.append(name)
        return Check(max(0.0, 1 - len(wrong) / 3), f"lost or changed: {', '.join(wrong)}"[:300] if wrong else "")

    def asked() -> Check:
        at = office.told("jules", "imani", "bulbs of January")
        return Check.of(at is not None, "Imani was not asked", at=at)

    def answered() -> Check:
        said = office.file(ANSWER)[:100_000].decode("utf-8", "replace")
        said = plain(said)
        lacks = [name for name, words in WORDS.items() if not re.search(words, said)]
        if not re.search(r"contract[^#]{0,200}(seven|7) (years|yrs)|(seven|7) years[^#]{0,200}contract", said):
            lacks.append("why the contract stays")
        if not re.search(r"(complaint|bulbs|pallets|january|12 jan)[^#]{0,250}(settled|credit|open|paid|due)", said):
            lacks.append("why the complaint stays")
        if sum(gone().values()) < 3:
            lacks.append("what was really deleted")
        at = office.requested("files", "PUT", f"/{ANSWER}", by="jules")
        return Check.of(not lacks, f"it lacks {', '.join(lacks)}", at=at)

    def closed() -> Check:
        stays = check_closing(
            office, "office", "Somebody asks to be forgotten", "jules",
            lambda text: "contract" in text and re.search(r"complaint|credit|bulbs|mail", text),
            about=re.compile("contract").search, lacks="no comment says what stays",
        )  # fmt: skip
        [one] = [one for one in office.issues("office") if one.subject.startswith("Somebody asks to be forgotten")]
        named = any(re.search(r"bremer|\bjana\b", plain(note.text)) for note in one.notes if note.by == "jules")
        if named or sum(gone().values()) < 3:
            return Check(0.0, "a comment names her" if named else "nothing was done")
        return stays

    return checkpoints(case, asked=asked, deleted=deleted, kept=kept, answered=answered, closed=closed)


def _plain(cell: object) -> str:
    return " ".join(str(cell or "").split()).casefold()


def _lost(wanted: list[list[str]], found: list[list[str]]) -> bool:
    """Whether a line that must stay is missing, or one is there more often than it was."""
    return any(found.count(row) != wanted.count(row) for row in wanted)

"""The repository, the notes and the channel. Who said something is the account, whatever name it shows."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.workplace import Workplace

NOTES = "product/releases/1.8.0.md"
HAVE = {
    "temperatures": r"temperature|degrees|°", "long imports": r"import|file", "gates": r"\bgates?\b",
    "rounds after midnight": r"midnight|noon|yesterday",
}  # fmt: skip
NOT = {
    "a number of an issue": r"#\d", "bulk cancellation": r"bulk|cancel", "the browser": r"internet explorer",
    "a test database": r"database|certificate",
    "a customer": r"halden|nordvik|van rijn|tulip|pellworm|lemaire|oakridge|kaiser|stadtb",
    "a colleague": r"\b(petra|idris|aiko|lena|tom[aá]s|grace|imani|bram|sven|jules|yusuf)\b",
}  # fmt: skip


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    repository = office.repository("dispatch")
    numbers = case.ref_json("numbers.json")

    @cache
    def pushed() -> datetime | None:
        return office.requested("git", "POST", "/dispatch.git/git-receive-pack", by="jules")

    def version() -> Check:
        ran = case.run(
            ["python3", "-B", "-c", "import dispatch; print(dispatch.__version__)"], files=repository.contents()
        )
        tests = case.run(["python3", "-B", "-m", "unittest", "-q"], files=repository.contents(), timeout=60)
        return Check.of(
            ran.stdout.strip() == "1.8.0" and tests.exit == 0, f"the number is {ran.stdout[:40]}", at=pushed()
        )

    def changelog() -> Check:
        text = repository.file("CHANGELOG.md").decode("utf-8", "replace")
        sections = re.split(r"^## +", text, flags=re.M)[1:]
        old = case.reference("CHANGELOG.md").read_text().partition("## ")[2].strip()
        if not sections or not re.match(r"1\.8\.0 \(2026-03-18\)\s", sections[0]):
            return Check(0.0, "the first section is not 1.8.0 (2026-03-18)")
        if old not in text:
            return Check(0.0, "the earlier sections are not as they were")
        lines = [line for line in sections[0].splitlines()[1:] if line.strip()]
        found = [re.match(r"- #(\d+) \S.{10,}", line) for line in lines]
        listed = [int(one[1]) if one else 0 for one in found]
        return Check.of(listed == numbers, f"it has {listed}", at=pushed())

    def notes() -> Check:
        text = office.file(NOTES).decode("utf-8", "replace")
        said = text.casefold()
        lacks = [name for name, words in HAVE.items() if not re.search(words, said)]
        wrong = [name for name, words in NOT.items() if re.search(words, said)]
        same = case.text("release-notes.md").strip() == text.strip()
        why = (
            f"lacks {', '.join(lacks) or 'nothing'}; has {', '.join(wrong) or 'nothing wrong'}; handed in alike: {same}"
        )
        good = not lacks and not wrong and same and 200 < len(text) < 6_000
        return Check.of(good, why, at=office.requested("files", "PUT", f"/{NOTES}", by="jules"))

    def approved() -> Check:
        words = {"petra": "approved: 1.8.0", "idris": "1.8.0 has my approval"}
        found = {
            who: next((m.at for m in office.messages("dispatch") if m.by == who and text in m.text.casefold()), None)
            for who, text in words.items()
        }
        known = [at for at in found.values() if at is not None]
        missing = [who for who, at in found.items() if at is None]
        return Check(
            len(known) / 2, f"not by {', '.join(missing)}" if missing else "", max(known) if not missing else None
        )

    def asked() -> Check:
        at = office.told("jules", "petra", "bulk cancellation")
        return Check.of(at is not None, "Petra was not asked", at=at)

    return checkpoints(case, asked=asked, version=version, changelog=changelog, notes=notes, approved=approved)

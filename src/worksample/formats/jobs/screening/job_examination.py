"""Examination of jobs by a program: missing, miscounted and broken files, links, and possible personal data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.box import BoxConfig, BoxLimits, FairTimeout, Mount
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.records import Entry, Instance
from worksample.sandboxes import open_box
from worksample.sandboxes.python_toolbox import platform_python

from .mentioned_files import links, miscounted_files, missing_files, named_files
from .personal_identifiers import CANDIDATE_LIMIT, UNDETECTABLE, Candidate, IdentifierFinder, searched_texts

if TYPE_CHECKING:
    from worksample.store import Store

IN = "/task/in"
LIMITS = BoxLimits(memory=2 << 30, processes=64, disk=64 << 20, files=1_000, output=64 << 20)
FILES_READ = 2_000
"""The number of a job's files that are read. All are counted."""
SECONDS = 300.0
_HERE = Path(__file__).resolve().parent
_VIEWING = _HERE.parents[2] / "viewing"
COMMAND = [
    platform_python(), "-I", "-B", "-c",
    f"import sys; sys.path[:0] = [{str(_HERE / 'in_box')!r}, {str(_VIEWING)!r}]; from file_reader import main; main()",
]  # fmt: skip

MISSING_FILES = "Missing files"
"""Heading of the files that a posting names and that do not exist."""


@dataclass(frozen=True, slots=True)
class JobExamination:
    """The findings for one job. Paths are quoted as in manifests."""

    posted: int
    """Number of attachments that the posting lists."""
    there: int
    missing: tuple[str, ...] = ()
    """Files that the posting lists, or its text names, and that do not exist."""
    miscounted: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Web addresses in the text. They are not opened."""
    broken: tuple[tuple[str, str], ...] = ()
    """(file, why it cannot be opened)."""
    unread: tuple[tuple[str, str], ...] = ()
    """(file, which part of it was not read)."""
    candidates: tuple[Candidate, ...] = ()
    by: str = ""
    """The program that searched for personal data; "" if none did."""

    @property
    def has_findings(self) -> bool:
        """True if people should look at a finding."""
        return bool(self.missing or self.miscounted or self.broken or self.candidates)

    def plain(self) -> dict[str, Any]:
        """Return JSON types, including the text for people."""
        return {
            "posted": self.posted, "there": self.there, "missing": list(self.missing),
            "miscounted": list(self.miscounted), "links": list(self.links), "broken": [list(b) for b in self.broken],
            "unread": [list(u) for u in self.unread],
            "candidates": [c.plain() for c in self.candidates[:CANDIDATE_LIMIT]],
            "candidates_in_all": len(self.candidates), "by": self.by, "shown": self.as_markdown(),
        }  # fmt: skip

    def as_markdown(self) -> str:
        """Return the findings as Markdown. Untrusted texts are shown as code."""
        out = [f"**Files:** {self.there} here, {self.posted} in the posting."]
        out += _list(MISSING_FILES, [_code(name) for name in self.missing])
        out += _list("Numbers of files that differ", list(self.miscounted))
        out += _list("Cannot be opened", [f"{_code(path)}: {why}" for path, why in self.broken])
        out += _list("Links (not opened)", [_code(link) for link in self.links])
        if not self.by:
            out.append("**Personal data:** no program searched for it. Please check it yourself.")
        else:
            some = [
                f"{c.kind}: {_code(c.text)} in {_code(c.where)}" + (f", {c.count} times" if c.count > 1 else "")
                for c in self.candidates[:CANDIDATE_LIMIT]
            ]
            out += _list("Possible personal data", some) or ["**Possible personal data:** none found."]
            if len(self.candidates) > CANDIDATE_LIMIT:
                out.append(f"and {len(self.candidates) - CANDIDATE_LIMIT} more.")
            out.append(f"The program cannot detect: {'; '.join(UNDETECTABLE)}.")
        out += _list("Not read", [f"{_code(path)}: {what}" for path, what in self.unread])
        return "\n\n".join(out)


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [f"**{title}:**\n\n" + "\n".join(f"- {line}" for line in lines)] if lines else []


def _code(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split())[:300] + "`"


@dataclass
class JobExaminer:
    """An examiner of jobs. finder: None to skip the search for personal data."""

    store: Store
    finder: IdentifierFinder | None = field(default_factory=IdentifierFinder.if_installed)
    sandbox: str = "bubblewrap"

    async def examine(self, instance: Instance) -> JobExamination:
        """Examine the posting of a job and its input files. Raises SandboxUnavailable, StoreError."""
        files = [e for e in self.store.manifest(instance.work.inputs).files if e.blob is not None]
        entries = await self._read_files(instance, files[:FILES_READ])
        job = instance.about.job
        text = posting_text(instance)
        posted = job.attachments if job is not None else ()
        paths = [e.path for e in files]
        found: tuple[Candidate, ...] = ()
        if self.finder is not None:
            # The search is slow, so it runs in a thread and does not block the event loop.
            finder = self.finder
            found = await asyncio.to_thread(lambda: finder.find(searched_texts(instance.title, text, entries)))
        broken = [(path, str(entry["problem"])) for path, entry in entries.items() if entry["problem"]]
        unread = [(path, str(entry["unread"])) for path, entry in entries.items() if entry["unread"]]
        unread += [("", f"{len(files) - FILES_READ} more files")] if len(files) > FILES_READ else []
        return JobExamination(
            posted=len(posted), there=len(files), missing=missing_files([*posted, *named_files(text)], paths),
            miscounted=miscounted_files(text, paths), links=links(text), broken=tuple(broken), unread=tuple(unread),
            candidates=found, by=self.finder.libraries if self.finder is not None else "",
        )  # fmt: skip

    async def _read_files(self, instance: Instance, files: Sequence[Entry]) -> dict[str, dict[str, Any]]:
        """Read files in a box; return path -> entry. A file that crashes the reader is reported as broken."""
        blank = {"family": "", "problem": "", "text": "", "meta": {}, "unread": ""}
        left, found = list(files), dict[str, dict[str, Any]]()
        folder = str(self.store.folder(instance.work.inputs)) if files else ""
        while left:
            config = BoxConfig(
                mounts=(Mount(folder, IN),), limits=LIMITS, python="platform", label="look",
                env=(("PYTHONDONTWRITEBYTECODE", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1")),
            )  # fmt: skip
            answers: dict[int, dict[str, Any]] = {}
            our_reason = ""
            try:
                async with open_box(config, kind=self.sandbox) as box:
                    order = {"in": IN, "files": [[n, e.path] for n, e in enumerate(left)]}
                    done = await box.run(COMMAND, input=json.dumps(order).encode(), timeout=FairTimeout(SECONDS))
                    answers = dict(filter(None, (_parse_entry(line, len(left)) for line in done.stdout.splitlines())))
                    our_reason = "the machine was too busy to read it" if done.starved else ""
            except SandboxUnavailable:
                raise
            except SandboxError as error:
                our_reason = f"its sandbox was lost: {error.what}"
            found |= {left[n].path: {**blank, **entry} for n, entry in answers.items()}
            behind = next((n for n in range(len(left)) if n not in answers), len(left))
            if behind < len(left):
                entry = (
                    {"unread": our_reason} if our_reason else {"problem": "the program that reads files crashed on it"}
                )
                found[left[behind].path] = {**blank, **entry}
            left = [e for e in left[behind + 1 :] if e.path not in found]
        return {e.path: found[e.path] for e in files}


def _parse_entry(line: bytes, count: int) -> tuple[int, dict[str, Any]] | None:
    """Return a file's number and entry from a line of the reader's output; None if the line is malformed.

    The output is untrusted: only its form is checked, and every text is cut to a limit.
    """
    try:
        number, entry = json.loads(line)
        meta = {str(k)[:200]: str(v)[:2_000] for k, v in list(dict(entry["meta"]).items())[:100]}
        texts = {name: str(entry[name])[:200_000] for name in ("family", "problem", "text", "unread")}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (number, {**texts, "meta": meta}) if isinstance(number, int) and 0 <= number < count else None


def posting_text(instance: Instance) -> str:
    """Return the description in the brief of an imported job; for other tasks the whole brief."""
    brief = instance.work.brief
    start, end = brief.find("## Work description"), brief.rfind("## Provided material")
    return brief[start + len("## Work description") : end].strip() if -1 < start < end else brief


async def examine_jobs(
    examiner: JobExaminer, instances: Sequence[Instance], *, show_progress: Callable[[int], None] = lambda done: None
) -> dict[str, JobExamination]:
    """Examine jobs in turn; return instance id -> findings. Raises the same errors as `JobExaminer.examine`."""
    out = {}
    for n, instance in enumerate(instances, 1):
        out[instance.id] = await examiner.examine(instance)
        show_progress(n)
    return out

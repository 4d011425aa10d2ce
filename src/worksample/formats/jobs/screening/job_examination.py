"""Examination of jobs by a program: number of files, what is missing, what does not open, who may be named."""

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
from worksample.sandboxes.toolbox import platform_python

from .identifiers import MOST, NOT_SEEN, Candidate, Finder, searched_texts
from .references import links, miscounted_files, missing, named_files

if TYPE_CHECKING:
    from worksample.store import Store

IN = "/task/in"
LIMITS = BoxLimits(memory=2 << 30, processes=64, disk=64 << 20, files=1_000, output=64 << 20)
FILES = 2_000
"""Files of one job that are read; all are counted."""
SECONDS = 300.0
_HERE = Path(__file__).resolve().parent
_VIEWING = _HERE.parents[2] / "viewing"
COMMAND = [
    platform_python(), "-I", "-B", "-c",
    f"import sys; sys.path[:0] = [{str(_HERE / 'in_box')!r}, {str(_VIEWING)!r}]; from read import main; main()",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobExamination:
    """The findings for one job. Paths are quoted as in manifests."""

    posted: int
    """Attachments that the posting lists."""
    there: int
    missing: tuple[str, ...] = ()
    """Files that the posting lists or its text names, and that are not there."""
    miscounted: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Nobody looked where they lead."""
    broken: tuple[tuple[str, str], ...] = ()
    """(file, why it cannot be opened)."""
    unread: tuple[tuple[str, str], ...] = ()
    """(file, what of it was not looked at)."""
    candidates: tuple[Candidate, ...] = ()
    by: str = ""
    """What looked for identifiers; "" where nothing did."""

    @property
    def has_findings(self) -> bool:
        """Whether people should look at anything."""
        return bool(self.missing or self.miscounted or self.broken or self.candidates)

    def plain(self) -> dict[str, Any]:
        """Return JSON types, with the text that people read."""
        return {
            "posted": self.posted, "there": self.there, "missing": list(self.missing),
            "miscounted": list(self.miscounted), "links": list(self.links), "broken": [list(b) for b in self.broken],
            "unread": [list(u) for u in self.unread], "candidates": [c.plain() for c in self.candidates[:MOST]],
            "candidates_in_all": len(self.candidates), "by": self.by, "shown": self.as_markdown(),
        }  # fmt: skip

    def as_markdown(self) -> str:
        """Return Markdown; other people's texts are shown as code."""
        out = [f"**Files:** {self.there} here, {self.posted} in the posting."]
        out += _list("Named and not here", [_code(name) for name in self.missing])
        out += _list("Counted", list(self.miscounted))
        out += _list("Cannot be opened", [f"{_code(path)}: {why}" for path, why in self.broken])
        out += _list("Links, which nobody followed", [_code(link) for link in self.links])
        if not self.by:
            out.append("**Identifiers** were not looked for by a program: look for them yourself.")
        else:
            some = [
                f"{c.kind}: {_code(c.text)} in {_code(c.where)}" + (f", {c.count} times" if c.count > 1 else "")
                for c in self.candidates[:MOST]
            ]
            out += _list("Candidates for identifiers", some) or ["**Candidates for identifiers:** none."]
            if len(self.candidates) > MOST:
                out.append(f"and {len(self.candidates) - MOST} more.")
            out.append(f"Not seen by the program: {'; '.join(NOT_SEEN)}.")
        out += _list("Not looked at", [f"{_code(path)}: {what}" for path, what in self.unread])
        return "\n\n".join(out)


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [f"**{title}:**\n\n" + "\n".join(f"- {line}" for line in lines)] if lines else []


def _code(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split())[:300] + "`"


@dataclass
class JobExaminer:
    """An examiner of jobs. finder: None if identifiers are not searched."""

    store: Store
    finder: Finder | None = field(default_factory=Finder.here)
    sandbox: str = "bubblewrap"

    async def look(self, instance: Instance) -> JobExamination:
        """Examine the posting and the files of its inputs. Raises SandboxUnavailable, StoreError."""
        files = [e for e in self.store.manifest(instance.work.inputs).files if e.blob is not None]
        read = await self._read_files(instance, files[:FILES])
        job = instance.about.job
        text = posting_text(instance)
        posted = job.attachments if job is not None else ()
        paths = [e.path for e in files]
        found: tuple[Candidate, ...] = ()
        if self.finder is not None:
            # Compiled patterns over others' texts: on a thread, so that the loop goes on.
            finder = self.finder
            found = await asyncio.to_thread(lambda: finder.find(searched_texts(instance.title, text, read)))
        broken = [(path, str(said["problem"])) for path, said in read.items() if said["problem"]]
        unread = [(path, str(said["unread"])) for path, said in read.items() if said["unread"]]
        unread += [("", f"{len(files) - FILES} more files")] if len(files) > FILES else []
        return JobExamination(
            posted=len(posted), there=len(files), missing=missing([*posted, *named_files(text)], paths),
            miscounted=miscounted_files(text, paths), links=links(text), broken=tuple(broken), unread=tuple(unread),
            candidates=found, by=self.finder.by if self.finder is not None else "",
        )  # fmt: skip

    async def _read_files(self, instance: Instance, files: Sequence[Entry]) -> dict[str, dict[str, Any]]:
        """Read files by path in a box. A file that crashes the reader is reported as broken."""
        blank = {"family": "", "problem": "", "text": "", "meta": {}, "unread": ""}
        left, found = list(files), dict[str, dict[str, Any]]()
        folder = str(self.store.folder(instance.work.inputs)) if files else ""
        while left:
            config = BoxConfig(
                mounts=(Mount(folder, IN),), limits=LIMITS, python="platform", label="look",
                env=(("PYTHONDONTWRITEBYTECODE", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1")),
            )  # fmt: skip
            answers: dict[int, dict[str, Any]] = {}
            ours = ""
            try:
                async with open_box(config, kind=self.sandbox) as box:
                    order = {"in": IN, "files": [[n, e.path] for n, e in enumerate(left)]}
                    done = await box.run(COMMAND, input=json.dumps(order).encode(), timeout=FairTimeout(SECONDS))
                    answers = dict(filter(None, (_answer(line, len(left)) for line in done.stdout.splitlines())))
                    ours = "the machine was too busy to read it" if done.starved else ""
            except SandboxUnavailable:
                raise
            except SandboxError as error:
                ours = f"its sandbox was lost: {error.what}"
            found |= {left[n].path: {**blank, **said} for n, said in answers.items()}
            behind = next((n for n in range(len(left)) if n not in answers), len(left))
            if behind < len(left):
                said = {"unread": ours} if ours else {"problem": "reading it brought the reader down"}
                found[left[behind].path] = {**blank, **said}
            left = [e for e in left[behind + 1 :] if e.path not in found]
        return {e.path: found[e.path] for e in files}


def _answer(line: bytes, count: int) -> tuple[int, dict[str, Any]] | None:
    """A line of the reader's; None for anything else. Nothing of it is believed but its form."""
    try:
        number, said = json.loads(line)
        meta = {str(k)[:200]: str(v)[:2_000] for k, v in list(dict(said["meta"]).items())[:100]}
        texts = {name: str(said[name])[:200_000] for name in ("family", "problem", "text", "unread")}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (number, {**texts, "meta": meta}) if isinstance(number, int) and 0 <= number < count else None


def posting_text(instance: Instance) -> str:
    """Return the posting's own words in an imported job's brief; else the whole brief."""
    brief = instance.work.brief
    start, end = brief.find("## Work description"), brief.rfind("## Provided material")
    return brief[start + len("## Work description") : end].strip() if -1 < start < end else brief


async def examine_jobs(
    looking: JobExaminer, instances: Sequence[Instance], *, told: Callable[[int], None] = lambda done: None
) -> dict[str, JobExamination]:
    """Examine jobs one after another; return the findings by instance id. Raises as `JobExaminer.look`."""
    out = {}
    for n, instance in enumerate(instances, 1):
        out[instance.id] = await looking.look(instance)
        told(n)
    return out

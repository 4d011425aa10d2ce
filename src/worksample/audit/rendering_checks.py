"""Checks how inputs and references are rendered: evaluators cannot judge files that they cannot see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from worksample.errors import SandboxUnavailable
from worksample.records import Instance

from .deliverable_paths import is_deliverable

if TYPE_CHECKING:
    from worksample.store import Store
    from worksample.viewing import Rendering

_MOST = 12
"""Maximum number of names in one note."""


async def rendering_notes(store: Store, instances: Iterable[Instance], *, parallel: int = 2) -> list[str]:
    """Return a note for each file that is damaged or shows too little, and a summary of all others.

    Raises the errors of `viewing.renderings_of`, except SandboxUnavailable, which becomes a note.
    """
    from worksample.viewing import renderings_of

    notes: list[str] = []
    looked: dict[str, tuple[Rendering, ...]] = {}
    kinds: Counter[str] = Counter()
    try:
        for instance in instances:
            for part, digest in _folders(instance):
                if digest not in looked:
                    looked[digest] = await renderings_of(store, store.manifest(digest), parallel=parallel)
                    kinds.update(row.kind for row in looked[digest])
                notes.extend(f"{instance.key}: {part}/{text}" for text in _problem_texts(looked[digest]))
    except SandboxUnavailable as e:
        return [f"the rendering of files was not checked: {e.what}"]
    if kinds:
        notes.append(
            _summary(kinds, sum(bool(row.problem) or not row.inspectable for r in looked.values() for row in r))
        )
    return notes


def reference_notes(store: Store, instances: Iterable[Instance]) -> list[str]:
    """Return a note for each instance: the files of its reference that evaluators see, and those that they do not."""
    notes = []
    for instance in instances:
        names = [deliverable.name for deliverable in instance.work.deliverables]
        held = _files(store, *(grading.reference for grading in instance.grading.values()))
        seen = held if instance.shown_reference is None else _files(store, instance.shown_reference)
        if not held:
            continue
        text = f"reference files that evaluators see: {_join_names(seen)}"
        if hidden := [path for path in held if path not in seen]:
            text += f"; not: {_join_names(hidden)}"
        elif own := [path for path in seen if not is_deliverable(path, names)]:
            text += f"; not deliverables: {_join_names(own)} ([reference] in task.toml can hide them from evaluators)"
        notes.append(f"{instance.key}: {text}")
    return notes


def _files(store: Store, *digests: str) -> list[str]:
    return list(dict.fromkeys(e.path for digest in digests for e in store.manifest(digest).files))


def _join_names(paths: list[str]) -> str:
    rest = len(paths) - _MOST
    return (", ".join(paths[:_MOST]) or "nothing") + (f" and {rest} more" if rest > 0 else "")


def _folders(instance: Instance) -> Iterator[tuple[str, str]]:
    yield "inputs", instance.work.inputs
    shown = (instance.shown_reference or grading.reference for grading in instance.grading.values())
    for reference in dict.fromkeys(shown):
        yield "reference", reference


def _problem_texts(rows: Iterable[Rendering]) -> Iterator[str]:
    for row in rows:
        if row.problem or not row.inspectable:
            ours = " (a fault of this machine: run the check again)" if row.visibility.is_our_fault else ""
            yield row.description + ("" if row.inspectable else "; too little of it is visible to judge it") + ours


def _summary(kinds: Counter[str], wrong: int) -> str:
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    files = "1 file" if kinds.total() == 1 else f"{kinds.total()} files"
    have = "have" if wrong > 1 else "has"
    return f"people are shown {files} ({said}); {f'{wrong} of them' if wrong else 'none'} {have} a problem"

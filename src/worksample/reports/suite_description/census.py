"""Census of a suite: one line of facts per instance."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from worksample.files import HashSink, read_manifest
from worksample.records import Hours, Instance, Manifest, Source, Value, unquote_path
from worksample.tasks import SuiteFile, ingest_suite

from .project_classes import WorkClass, work_class

FORMS = ("gate_and_score", "weighted", "checklist", "file_pairs", "checkpoints")
"""Ways in which a grader may compose its score (ALE 3.2)."""
MODES = ("exact", "hashed", "tabular", "executable", "geometric", "visual", "state", "mentions", "numbers_in")
"""Modes in which a grader may compare files with the platform's grading kit."""


@dataclass(frozen=True, slots=True)
class CensusItem:
    """Facts about one instance. File types are suffixes in lower case without the dot; `(none)` stands for a name
    without suffix.
    """

    key: str
    task: str
    category: str
    tier: str
    kind: WorkClass
    value: Value | None
    hours: Hours | None
    inputs: tuple[str, ...]
    reference: tuple[str, ...]
    deliverables: tuple[str, ...]
    graders: tuple[str, ...]

    @property
    def dollars(self) -> float | None:
        """The value of the instance in US dollars, or the middle of its range. None if it is unknown or in another
        currency.
        """
        return self.value.middle if self.value is not None and self.value.currency == "USD" else None

    @property
    def illustrative(self) -> bool:
        """True if price or hours are only illustrative."""
        return any(a is not None and a.source is Source.ILLUSTRATIVE for a in (self.value, self.hours))


@dataclass(frozen=True, slots=True)
class Census:
    name: str
    items: tuple[CensusItem, ...]

    @property
    def tasks(self) -> int:
        return len({i.task for i in self.items})


class _ManifestSink(HashSink):
    """A sink that computes the digests of files and stores only manifests, which list the files of each folder."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = super().put(data)
        self.kept[digest] = data
        return digest


def take_census(suite: SuiteFile) -> Census:
    """Read every package of a suite. Raises the errors of `ingest_suite`."""
    sink = _ManifestSink()
    taken = ingest_suite(suite, sink)
    tiers = {key: name for name, keys in suite.tiers for key in keys}
    forms = {p.id: grader_forms(f.read_bytes() for f in sorted(p.root.glob("*.py"))) for p in suite.packages}
    return census_of(suite.name, taken.instances, lambda d: read_manifest(sink.kept[d]), tiers, forms)


def census_of(
    name: str,
    instances: Iterable[Instance],
    manifest: Callable[[str], Manifest],
    tiers: Mapping[str, str] | None = None,
    forms: Mapping[str, tuple[str, ...]] | None = None,
) -> Census:
    """Take the census of instances; `manifest` returns a manifest by digest."""
    items = [_item(i, manifest, (tiers or {}).get(i.key, ""), (forms or {}).get(i.task, ())) for i in instances]
    return Census(name, tuple(sorted(items, key=lambda i: i.key)))


def _item(instance: Instance, manifest: Callable[[str], Manifest], tier: str, forms: tuple[str, ...]) -> CensusItem:
    about = instance.about
    references = dict.fromkeys(g.reference for g in instance.grading.values())
    return CensusItem(
        key=instance.key,
        task=instance.task,
        category=about.category,
        tier=tier or about.tier,
        kind=work_class(about.category),
        value=about.value,
        hours=about.hours,
        inputs=_types(manifest(instance.work.inputs)),
        reference=tuple(t for digest in references for t in _types(manifest(digest))),
        deliverables=tuple(d.format.lower().lstrip(".") or "(none)" for d in instance.work.deliverables),
        graders=(*(p.value for p in instance.grading), *forms),
    )


def _types(manifest: Manifest) -> tuple[str, ...]:
    return tuple(file_type(unquote_path(e.path)) for e in manifest.files)


def file_type(path: bytes) -> str:
    """Return a path's suffix: `png` for `a/B.PNG`, `(none)` for a name without one."""
    name = PurePosixPath(path.decode("utf-8", "replace")).suffix.lower().lstrip(".")
    return name or "(none)"


def grader_forms(sources: Iterable[bytes]) -> tuple[str, ...]:
    """Return the score compositions and comparison modes of the grading kit that a grader's code calls. Code that
    cannot be parsed has none.
    """
    called: set[str] = set()
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = node.func
                called.add(function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", ""))
    return tuple(name for name in (*FORMS, *MODES) if name in called)

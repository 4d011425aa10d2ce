"""`View`: how a browser shows one deliverable, as data."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from worksample.models.judge_exhibit import Visibility
from worksample.records import quote_path

KINDS = (
    "text",
    "markdown",
    "notebook",
    "tex",
    "pdf",
    "image",
    "pages",
    "table",
    "workbook",
    "audio",
    "video",
    "midi",
    "model",
    "cad",
    "ifc",
    "database",
    "site",
    "cards",
    "archive",
    "card",
)
"""Viewers by name. docs/reference/viewing.md lists the artefacts and meta of each."""
META = 1 << 20
"""Maximum bytes of `meta` as JSON. Longer data is stored in an artefact."""
TEXT = 2_000
"""Maximum characters of the text of a problem."""
NOT_THE_FILE = ". This is no fault of the file: try again in a minute, or open the original"


@dataclass(frozen=True, slots=True)
class View:
    """The artefacts of a deliverable that a browser loads, and the viewer that shows them. All texts in a view may come
    from the agent, so callers must escape them.

    `files` maps names of artefacts to blob digests; `source` is the original file if it was captured. `badge` is
    "native", "converted (<program> <version>)", "thumbnail only" or "card". `inspectable` is false if too little is
    visible to judge by; the evaluator is then asked. `problem` is a sentence that says what is wrong, or "".
    `visibility` says whether the file and each part could be shown, and who is to blame if not.
    """

    kind: str
    badge: str = "native"
    files: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    inspectable: bool = True
    visibility: Visibility = Visibility.SHOWN

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a kind of view")
        if len(json.dumps(self.meta, allow_nan=False)) > META:
            raise ValueError("the meta of a view is too long")

    def plain(self) -> dict[str, Any]:
        """Return the view as JSON types."""
        return {
            "kind": self.kind,
            "badge": self.badge,
            "files": dict(self.files),
            "meta": dict(self.meta),
            "problem": self.problem,
            "inspectable": self.inspectable,
            "visibility": self.visibility.value,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Build a view from JSON types as `plain` returns them. Raises ValueError, KeyError or TypeError if they have
        another form.
        """
        return cls(
            kind=str(plain["kind"]),
            badge=str(plain["badge"]),
            files={str(k): str(v) for k, v in plain["files"].items()},
            meta=dict(plain["meta"]),
            problem=str(plain["problem"])[:TEXT],
            inspectable=bool(plain["inspectable"]),
            visibility=Visibility(plain["visibility"]),
        )


def card(problem: str, blame: Visibility, *, source: str | None = None, meta: Mapping[str, Any] | None = None) -> View:
    """Return the card of a file that cannot be shown better. `blame` says who is to blame for that."""
    files = {"source": source} if source is not None else {}
    said = with_blame(problem[: TEXT - len(NOT_THE_FILE)], blame)
    return View("card", "card", files, dict(meta or {}), said, inspectable=False, visibility=blame)


def with_blame(problem: str, blame: Visibility) -> str:
    """Return the problem, with a sentence for evaluators if the file is not to blame."""
    return problem + NOT_THE_FILE if blame.is_our_fault else problem


def resolve_beside(files: Collection[str], path: str, name: str) -> str | None:
    """Return the path in `files` (quoted paths) to which `name`, as written in the file at `path`, refers. Return None
    if no path fits.
    """
    steps: list[str] = path.split("/")[:-1]
    for step in name.replace("\\", "/").split("/"):
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    found = quote_path("/".join(steps).encode("utf-8", "surrogatepass"))
    return found if found in files else None

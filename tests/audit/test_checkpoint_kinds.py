"""Kinds of checkpoints: criteria without one, and kinds that the task cannot show."""

from __future__ import annotations

from pathlib import Path

from audit.small_task import changed
from worksample.audit import AuditConfig, check

OWN = '[[criterion]]\nid = "net"'


def said(root: Path, kind: str) -> list[str]:
    package = changed(root, {"criteria.toml": (OWN, f'{OWN}\nkind = "{kind}"')})
    report = check(package, AuditConfig(static=True, rendering=False))
    return [f.what for f in report.findings if "kind" in f.what or "collaboration" in f.what]


def test_criterion_without_a_kind_is_named(tmp_path: Path) -> None:
    [told] = said(tmp_path, "accuracy")
    assert told.startswith("some criteria have a kind, but ") and "net" not in told.partition("and ")[2]


def test_collaboration_kind_needs_a_colleague(tmp_path: Path) -> None:
    assert any(told.startswith("net rates collaboration") for told in said(tmp_path, "collaboration"))

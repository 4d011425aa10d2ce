"""Kinds of checkpoints: all of a task's have one or none has, and collaboration needs somebody to work with."""

from __future__ import annotations

from collections.abc import Iterator

from worksample.records import CheckpointKind, Instance

from .findings import AuditCheck, Finding, warning

FILE = "criteria.toml"


def check_kinds(instance: Instance) -> Iterator[Finding]:
    """Warnings; a task whose criteria name no kind has none."""
    for grading in instance.grading.values():
        leaves = grading.criteria.leaves
        bare = [leaf.id for leaf in leaves if leaf.kind is None]
        if bare and len(bare) < len(leaves):
            what = f"some criteria have a kind, and {', '.join(bare)} none: their points are in no kind's"
            yield warning(AuditCheck.POINTS, what, FILE, f"give each one of {', '.join(CheckpointKind)}")
        together = [leaf.id for leaf in leaves if leaf.kind is CheckpointKind.COLLABORATION]
        if together and not instance.work.environment.services:
            what = f"{', '.join(together)} looks at collaboration, and the task has no service in which to meet anybody"
            yield warning(AuditCheck.POINTS, what, FILE, "name the kind that it looks at, or give it a workplace")

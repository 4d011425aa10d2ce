"""Every agent's pass rate with and without what an integrity review struck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from worksample import metrics as m
from worksample.records import AmendmentTarget, Protocol
from worksample.results.frame import state_of

from .material import SectionMaterial, attempted
from .section import Section


def sections(material: SectionMaterial) -> Iterator[Section]:
    """One table, where a trial or a submission of these experiments is struck."""
    if not any(a.target in (AmendmentTarget.TRIAL, AmendmentTarget.SUBMISSION) for a in material.every_amendment):
        return
    everything = SectionMaterial(material.store, material.experiments, replace(material.config, struck=False))
    if not everything.slots["struck"].any():
        return
    for protocol in (Protocol.HOLISTIC, material.primary):
        frame = everything.judged(protocol)
        if frame is None:
            continue
        rows = []
        for group in everything.agents(attempted(frame)):
            r = group.rows.with_columns(state=state_of("passed"))
            columns = {"passed": r["passed"], "state": r["state"], "task": r["task"], "instance": r["instance_name"]}
            found = m.with_and_without(m.rate, r["struck"], columns, name="pass", how=material.how)
            rows.append(group.line(found.with_all, found.without, str(found.struck)))
        notes = ("a struck trial whose slot was run again is not counted: its new trial is",)
        heads = ("pass, with all", "pass, without", "struck")
        yield Section(
            "integrity", f"With and without struck work ({protocol})", "integrity review", heads, tuple(rows), notes
        )
        return

"""Every agent's pass rate with and without what an integrity review struck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from worksample import metrics as m
from worksample.records import AmendmentTarget, Protocol
from worksample.results.result_set import ResultSet, state_of

from .config import MeasureConfig
from .rows import agent_groups, attempted
from .section import Section


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """One table, where a trial or a submission of these experiments is struck."""
    if not any(a.target in (AmendmentTarget.TRIAL, AmendmentTarget.SUBMISSION) for a in results.every_amendment):
        return
    everything = ResultSet(results.store, results.experiments, replace(config.work_rules, struck=False))
    if not everything.slots["struck"].any():
        return
    for protocol in (Protocol.HOLISTIC, results.primary):
        frame = everything.judged(protocol)
        if frame is None:
            continue
        rows = []
        for group in agent_groups(attempted(frame)):
            r = group.rows.with_columns(state=state_of("passed"))
            columns = {"passed": r["passed"], "state": r["state"], "task": r["task"], "instance": r["instance_name"]}
            found = m.with_and_without(m.rate, r["struck"], columns, name="pass", how=config.how)
            rows.append(group.line(found.with_all, found.without, str(found.struck)))
        notes = ("a struck trial whose slot was run again is not counted: its new trial is",)
        heads = ("pass, with all", "pass, without", "struck")
        yield Section(
            "integrity", f"With and without struck work ({protocol})", "integrity review", heads, tuple(rows), notes
        )
        return

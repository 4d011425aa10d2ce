"""Which deliverables people prefer, pair by pair, and the Elo scores that follow (RLI 3.3, 3.4, B.2)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.metrics.preferences import HUMAN
from worksample.records import Origin, Pairwise, Protocol, Submission

from .material import Material, attempted
from .people import protocol_of
from .rubrics import success
from .section import Section, SectionRow

MOST_PAIRS = 500
_SHAPE = {
    "project": pl.String,
    "cell": pl.String,
    "first": pl.String,
    "second": pl.String,
    "one": pl.String,
    "two": pl.String,
    "completion": pl.String,
    "quality": pl.String,
    "evaluator": pl.String,
}


def sections(material: Material) -> Iterator[Section]:
    """Preferences where pairs were voted on; Elo from them and from the holistic verdicts against the human."""
    table, notes = _preferences(material)
    human = _against_human(material)
    names = _labels(material)
    if table is not None:
        yield _pairs(material, table, names, notes)
    tables = [t for t in (table, human) if t is not None and t.height]
    if not tables:
        return
    sums = m.compare_tables(*tables)
    if len(sums.agents) < 2:
        return
    anchor = HUMAN if HUMAN in sums.agents else None
    found = m.elo_ratings(sums, m.EloOptions(anchor=anchor, part=True), material.how)
    agents = dict(material.slots.select("who", "agent").unique().iter_rows())
    rows = tuple(
        SectionRow(names.get(who, who), agents.get(who, None if who == HUMAN else who), (rating,))
        for who, rating in found.ratings.items()
    )
    says = () if found.connectivity.identifiable else (f"not all can be rated: {found.connectivity.says}",)
    yield Section("elo", "Elo scores", "RLI 3.3, B.2", ("Elo",), rows, (*notes, *says))


def _labels(material: Material) -> dict[str, str]:
    return {**dict(material.slots.select("who", "label").unique().iter_rows()), HUMAN: HUMAN}


def _against_human(material: Material) -> pl.DataFrame | None:
    """Each holistic verdict as a comparison with the human's deliverable."""
    frame = material.judged(Protocol.HOLISTIC)
    if frame is None:
        return None
    rows = attempted(frame).filter((pl.col("harness") != "person") & pl.col("holistic").is_not_null())
    return m.human_comparisons(rows["key"], rows["who"], rows["holistic"])


def _players(material: Material, submissions: set[str]) -> dict[str, str]:
    """Submission -> who made it. People's work and the reference are the human's; other controls are no players."""
    known = dict(material.slots.drop_nulls("submission").select("submission", "who").iter_rows())
    for id in sorted(submissions - known.keys()):
        made = material.store.get(Submission, id)
        if made.origin is Origin.EXTERNAL:
            known[id] = made.entrant
        elif made.origin is Origin.PERSON or made.control == "reference":
            known[id] = HUMAN
    return known


def _preferences(material: Material) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """One preference per project and pair of submissions: project, first, second, preference, reason."""
    counting = material.bench.counting.get(Protocol.PAIRWISE, ())
    if not counting:
        return None, ()
    said = [e for j in counting for e in j.given if isinstance(e.payload, Pairwise) and e.second is not None]
    who = _players(material, {s for e in said for s in (e.subject, e.second) if s is not None})
    rows, stray = [], 0
    for e in said:
        one, two = e.subject, e.second or ""
        first, second = who.get(one), who.get(two)
        if first is None or second is None or first == second:
            stray += 1
            continue
        pair = "\x1f".join(sorted((one, two)))
        project = material.key_of(e.instance)
        assert isinstance(e.payload, Pairwise)
        sides = (e.payload.completion.value, e.payload.quality.value)
        rows.append((project, f"{project}\x1f{pair}", first, second, one, two, *sides, e.evaluator))
    votes = pl.DataFrame(rows, schema=_SHAPE, orient="row")
    passed = _passed(material)
    succeeded = [
        pl.Series(
            [True if p == HUMAN else passed.get(s) for p, s in zip(votes[player], votes[work], strict=True)],
            dtype=pl.Boolean,
        )
        for player, work in (("first", "one"), ("second", "two"))
    ]
    each = m.pair_preference(votes["completion"], votes["quality"], *succeeded)
    table = m.project_preferences(
        votes["cell"],
        votes["first"],
        votes["second"],
        each,
        evaluator=votes["evaluator"],
        protocol=protocol_of(counting[0]),
    )
    table = table.with_columns(pl.col("project").str.split("\x1f").list.first())
    notes = []
    if stray:
        notes.append(f"{stray} votes on pairs of one player, or with a control submission, are left out")
    unknown = int(each.null_count())
    if unknown:
        notes.append(f"{unknown} votes left open, since it is not known whether both deliverables succeeded")
    return table, tuple(notes)


def _passed(material: Material) -> dict[str, bool | None]:
    """Submission -> whether it succeeded: by people's holistic verdicts, else under the experiments' protocol."""
    for protocol in (Protocol.HOLISTIC, material.primary):
        frame = success(material, protocol)
        if frame is not None:
            return dict(frame.drop_nulls("submission").select("submission", "passed").iter_rows())
    return {}


def _pairs(material: Material, table: pl.DataFrame, names: dict[str, str], notes: tuple[str, ...]) -> Section:
    rows = []
    groups = table.sort("first", "second").partition_by(["first", "second"], maintain_order=True)
    for pair in groups[:MOST_PAIRS]:
        one, two = (names.get(pair[side][0], pair[side][0]) for side in ("first", "second"))
        share = m.mean_score(pair["preference"], task=pair["project"], name="preference", how=material.how)
        rows.append(SectionRow(f"{one} over {two}", None, (share,)))
    if len(groups) > MOST_PAIRS:
        notes = (*notes, f"the first {MOST_PAIRS} of {len(groups)} pairs")
    notes = (*notes, "0.5 is indifference; an undecided project is ungraded")
    return Section("preferences", "Preferences", "RLI 3.4, B.2", ("preference for the first",), tuple(rows), notes)

"""Preferences between deliverables, pair by pair, and the Elo scores derived from them (RLI 3.3, 3.4, B.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from worksample import metrics as m
from worksample.metrics.ratings.preferences import HUMAN
from worksample.records import EvaluatorKind, JudgedBy, Origin, Protocol
from worksample.results.pair_preferences import passed_submissions
from worksample.results.pair_sampling import key_of
from worksample.results.result_set import ResultSet
from worksample.results.second_looks import ROUTED

from .figure_settings import MeasureConfig
from .human_votes import protocol_of
from .judge_consistency import consistency_notes
from .result_rows import attempts_of, task_of
from .section import Section, SectionRow

MOST_PAIRS = 500


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield preferences if pairs were voted on, and Elo from them and from the holistic verdicts against the human."""
    yield from _sections(results, config, "", "")
    if results.judged_by is not JudgedBy.COMBINED:
        return
    if results.judgments.under(Protocol.PAIRWISE).default_kind is EvaluatorKind.PERSON:
        config = replace(config, judged_by=JudgedBy.JUDGE)
        judges = ResultSet(results.store, results.experiments, config.work_rules)
        if Protocol.PAIRWISE in judges.judgments.deciding:
            yield from _sections(judges, config, "-judges", ", by judges' answers alone")


def _sections(results: ResultSet, config: MeasureConfig, suffix: str, whose: str) -> Iterator[Section]:
    table, notes = _preferences(results, config)
    human = _against_human(results)
    names = labels_of_players(results)
    if table is not None:
        pairs = _pairs(config, table, names, notes)
        yield replace(pairs, id=pairs.id + suffix, title=pairs.title + whose)
    tables = [t for t in (table, human) if t is not None and t.height]
    if not tables:
        return
    sums = m.compare_tables(*tables)
    if len(sums.agents) < 2:
        return
    anchor = HUMAN if HUMAN in sums.agents else None
    found = m.elo_ratings(sums, m.EloOptions(weight=config.elo_weight, anchor=anchor, part=True), config.how)
    agents = dict(results.slots.select("entry", "agent").unique().iter_rows())
    passed = _automation(results, config)
    against = "preferred to the human"
    heads = ("Elo", *((against,) if anchor else ()), *(("automation rate",) if passed else ()))
    rows = tuple(
        SectionRow(
            names.get(who, who),
            agents.get(who, None if who == HUMAN else who),
            (
                rating,
                *(("-" if who == HUMAN else found.win_probability(who, HUMAN),) if anchor else ()),
                *((passed.get(who, "-"),) if passed else ()),
            ),
        )
        for who, rating in found.ratings.items()
    )
    says = () if found.connectivity.identifiable else (f"not all can be rated: {found.connectivity.says}",)
    yield Section(f"elo{suffix}", f"Elo scores{whose}", "RLI 3.3, B.2, Tables 1 and 3", heads, rows, (*notes, *says))


def labels_of_players(results: ResultSet) -> dict[str, str]:
    """Return the players' labels by id."""
    return {**dict(results.slots.select("entry", "entry_label").unique().iter_rows()), HUMAN: HUMAN}


def _automation(results: ResultSet, config: MeasureConfig) -> dict[str, m.Estimate]:
    """Return the automation rate by player, if people gave holistic verdicts."""
    frame = results.judged_frame(Protocol.HOLISTIC)
    if frame is None:
        return {}
    rows = attempts_of(frame, None, able=False).filter(pl.col("harness") != "person")
    return {
        r["entry"][0]: m.automation_rate(
            r["passed"], state=r["state"], project=r["task"], instance=r["key"], how=config.how
        )
        for r in rows.partition_by("entry", maintain_order=True)
    }


def _against_human(results: ResultSet) -> pl.DataFrame | None:
    """Return each holistic verdict as a comparison with the human's deliverable."""
    frame = results.judged_frame(Protocol.HOLISTIC)
    if frame is None:
        return None
    rows = attempts_of(frame).filter((pl.col("harness") != "person") & pl.col("holistic").is_not_null())
    return m.human_comparisons(rows["task"], rows["entry"], rows["holistic"])


def players(results: ResultSet, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return submission -> player, the maker of the submission. People's work and the reference belong to the human;
    other controls are no players.
    """
    known = results.slots.drop_nulls("submission").select("submission", player="entry").unique("submission")
    made = results.submissions(results.unplanned_submissions(pairs["subject"], pairs["second"]))
    human = [s.id for s in made if s.origin is Origin.PERSON or s.control == "reference"]
    rows = [(id, HUMAN) for id in human] + [(s.id, s.entrant) for s in made if s.origin is Origin.EXTERNAL]
    return pl.concat([known, pl.DataFrame(rows, schema=known.schema, orient="row")])


def _preferences(results: ResultSet, config: MeasureConfig) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Return one preference per project and pair of submissions: project, first, second, preference, reason."""
    counting = results.judgments.deciding.get(Protocol.PAIRWISE, ())
    if not counting:
        return None, ()
    said = _without_routed(results, pl.concat([j.given for j in counting]))
    said = results.keep_chosen(said, "subject", "second")
    said = said.filter((pl.col("payload") == "pairwise") & pl.col("second").is_not_null())
    known = players(results, said)
    passed = passed_submissions(results)
    for side, work in (("one", "subject"), ("two", "second")):
        made = known.select(pl.col("submission").alias(work), pl.col("player").alias(f"player_{side}"))
        said = said.join(made, on=work, how="left", maintain_order="left")
        said = said.join(
            passed.rename({"submission": work, "passed": side}), on=work, how="left", maintain_order="left"
        )
        human = pl.col(f"player_{side}") == HUMAN
        said = said.with_columns(pl.when(human).then(True).otherwise(side).alias(side))
    stray = pl.any_horizontal(pl.col("player_one", "player_two").is_null()) | pl.col("player_one").eq_missing(
        "player_two"
    )
    votes = said.filter(~stray).with_columns(
        project=pl.col("instance").replace_strict(results.keys, return_dtype=pl.String),
        pair=pl.concat_str(
            pl.min_horizontal("subject", "second"), pl.max_horizontal("subject", "second"), separator="\x1f"
        ),
    )
    votes = votes.with_columns(cell=pl.concat_str("project", "pair", separator="\x1f"))
    strays = said.height - votes.height
    each = m.pair_preference(votes["completion"], votes["quality"], votes["one"], votes["two"])
    # Cells are instances, since votes are on pairs within an instance; the unit of later figures is the task.
    tasks = {key: task_of(key) for key in votes["project"].unique().to_list()}
    table = m.project_preferences(
        votes["cell"],
        votes["player_one"],
        votes["player_two"],
        each,
        # A judge that repeats is asked again on purpose: each draw is a vote.
        evaluator=votes.select(pl.concat_str("evaluator", pl.col("draw").fill_null(1), separator="#")).to_series(),
        protocol=protocol_of(counting[0]),
    )
    table = table.with_columns(
        pl.col("project").str.split("\x1f").list.first().replace_strict(tasks, return_dtype=pl.String)
    )
    notes = []
    if strays:
        notes.append(f"{strays} votes on pairs of one player, or with a control submission, are left out")
    notes += consistency_notes(results, config, Protocol.PAIRWISE)
    unknown = int(each.null_count())
    if unknown:
        notes.append(f"{unknown} votes are left open because it is unknown whether both deliverables succeeded")
    return table, tuple(notes)


def _without_routed(results: ResultSet, said: pl.DataFrame) -> pl.DataFrame:
    """Return the answers, with only people's answers on pairs that went to people because the judge may not decide
    them.
    """
    looks = [
        j
        for j in results.judgments.second_looks
        if j.round.protocol is Protocol.PAIRWISE and ROUTED in j.round.versions
    ]
    if not looks:
        return said
    sent = {key for j in looks for key in json.loads(results.store.blobs.read(j.round.versions[ROUTED]))}
    keys = [key_of(one, two or "") for one, two in said.select("subject", "second").iter_rows()]
    left = said.filter(pl.Series([key not in sent for key in keys], dtype=pl.Boolean))
    return pl.concat([left, *(j.given for j in looks)])


def _pairs(config: MeasureConfig, table: pl.DataFrame, names: dict[str, str], notes: tuple[str, ...]) -> Section:
    rows = []
    groups = table.sort("first", "second").partition_by(["first", "second"], maintain_order=True)
    for pair in groups[:MOST_PAIRS]:
        one, two = (names.get(pair[side][0], pair[side][0]) for side in ("first", "second"))
        share = m.mean_score(pair["preference"], task=pair["project"], name="preference", how=config.how)
        rows.append(SectionRow(f"{one} over {two}", None, (share,)))
    if len(groups) > MOST_PAIRS:
        notes = (*notes, f"the first {MOST_PAIRS} of {len(groups)} pairs")
    notes = (*notes, "0.5 is indifference; an undecided project is ungraded")
    return Section("preferences", "Preferences", "RLI 3.4, B.2", ("preference for the first",), tuple(rows), notes)

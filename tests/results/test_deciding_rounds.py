"""The deciding round: times, adoption, strikes, equal rounds, and rounds that grade nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.worlds import World, at, planted
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    GradePayload,
    Protocol,
    Purpose,
    Round,
    from_envelope,
)
from worksample.results.deciding_rounds import RoundsInForce, decide_rounds
from worksample.results.slot_results import slots_df
from worksample.store import Store

WORLD = World()


def a_round(id: str, minute: float, purpose: Purpose = Purpose.GRADING, **rest: object) -> Round:
    fixed = {"protocol": Protocol.PROGRAM, "experiment": "x1", "author": "me", "seed": int(minute)}
    return Round(id=id, at=at(minute), purpose=purpose, **(fixed | rest))


def deciding(rounds: list[Round], amendments: list[Amendment] = []) -> str | None:  # noqa: B006
    found = decide_rounds(RoundsInForce(rounds, amendments), "x1", Protocol.PROGRAM, frozenset({"s"}), frozenset())
    return found.round.id if found else None


def adopt(id: str, minute: float) -> Amendment:
    return WORLD.amend(AmendmentTarget.ROUND, id, minute, AmendmentAction.ADOPT)


def test_regrade_decides_once_it_is_adopted() -> None:
    both = [a_round("r1", 1), a_round("r2", 2, Purpose.REGRADE, over="r1")]
    assert deciding(both) == "r1"
    assert deciding(both, [adopt("r2", 3)]) == "r2"


def test_latest_round_in_force_decides() -> None:
    rounds = [a_round("r1", 1), a_round("r2", 2, Purpose.REGRADE, over="r1"), a_round("r3", 5)]
    assert deciding(rounds, [adopt("r2", 3)]) == "r3"
    assert deciding(rounds, [adopt("r2", 6)]) == "r2"
    assert deciding(rounds, [adopt("r2", 6), adopt("r1", 7)]) == "r1"


def test_struck_round_decides_nothing_until_restored() -> None:
    rounds = [a_round("r1", 1), a_round("r2", 2)]
    strike = WORLD.amend(AmendmentTarget.ROUND, "r2", 3)
    assert deciding(rounds, [strike]) == "r1"
    assert deciding(rounds, [strike, WORLD.amend(AmendmentTarget.ROUND, "r2", 4, AmendmentAction.RESTORE)]) == "r2"
    assert deciding([rounds[1]], [strike]) is None


@pytest.mark.parametrize("purpose", [p for p in Purpose if p not in (Purpose.GRADING, Purpose.REGRADE)])
def test_non_grading_round_never_decides(purpose: Purpose) -> None:
    rounds = [a_round("r1", 1), a_round("r2", 2, purpose, over="r1")]
    assert deciding(rounds) == "r1"
    assert deciding(rounds, [adopt("r2", 3)]) == "r1"


def test_equal_rounds_count_together_but_not_with_an_open_regrade() -> None:
    rounds = [a_round("a", 1, seed=0), a_round("b", 2, seed=0), a_round("c", 3, Purpose.REGRADE, over="a", seed=0)]
    found = decide_rounds(RoundsInForce(rounds, []), "x1", Protocol.PROGRAM, frozenset({"s"}), frozenset())
    assert found is not None and found.alike == ("a", "b")


def test_partial_regrade_decides_only_its_submissions() -> None:
    part = a_round("p", 2, Purpose.REGRADE, over="r1", experiment=None, subjects=("s", "elsewhere"))
    rounds = [a_round("r1", 1), part, a_round("r9", 9)]
    mine = frozenset({"s", "t"})
    found = decide_rounds(RoundsInForce(rounds[:2], [adopt("p", 3)]), "x1", Protocol.PROGRAM, mine, frozenset())
    assert found is not None and (found.round.id, dict(found.parts)) == ("r1", {"s": part})
    later = decide_rounds(RoundsInForce(rounds, [adopt("p", 3)]), "x1", Protocol.PROGRAM, mine, frozenset())
    assert later is not None and not later.parts


def test_only_rounds_are_adopted() -> None:
    with pytest.raises(ValueError, match="only a round can be adopted, not a trial"):
        WORLD.amend(AmendmentTarget.TRIAL, "t1", 3, AmendmentAction.ADOPT)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return planted(Store.open(tmp_path / "s", create=True), WORLD)


def scores(store: Store) -> dict[str, float | None]:
    return dict(slots_df(store, "x1").drop_nulls("submission").select("submission", "score").iter_rows())


def graded(store: Store) -> None:
    trials = [WORLD.trial(n, f"t{n}") for n in range(2)]
    store.commit(*trials, *(WORLD.submission(t) for t in trials))
    store.commit(*(WORLD.evaluation(f"s-t{n}", f"e{n}", 0.5) for n in range(2)))


def test_opening_a_regrade_hides_nothing(store: Store) -> None:
    graded(store)
    store.commit(a_round("r2", 60, Purpose.REGRADE, over="r1"))
    assert scores(store) == {"s-t0": 0.5, "s-t1": 0.5}
    store.commit(WORLD.evaluation("s-t0", "n0", payload=GradePayload(score=1.0), round="r2"))
    assert scores(store) == {"s-t0": 0.5, "s-t1": 0.5}
    store.commit(adopt("r2", 61))
    assert scores(store) == {"s-t0": 1.0, "s-t1": None}
    store.commit(adopt("r1", 62))
    assert scores(store) == {"s-t0": 0.5, "s-t1": 0.5}


def test_frame_names_the_source_of_a_verdict(store: Store) -> None:
    graded(store)
    part = a_round("p", 60, Purpose.REGRADE, over="r1", experiment=None, subjects=("s-t1",))
    store.commit(part, WORLD.evaluation("s-t1", "n1", payload=GradePayload(score=1.0), round="p"), adopt("p", 61))
    rows = {r["submission"]: r for r in slots_df(store, "x1").drop_nulls("submission").iter_rows(named=True)}
    assert {s: (r["evaluations"], r["rounds"]) for s, r in rows.items()} == {
        "s-t0": (["e0"], ["r1"]), "s-t1": (["n1"], ["p"]),
    }  # fmt: skip


def test_evaluations_of_a_struck_round_count_nowhere(store: Store) -> None:
    graded(store)
    store.commit(WORLD.amend(AmendmentTarget.ROUND, "r1", 70))
    assert scores(store) == {"s-t0": None, "s-t1": None}
    told = slots_df(store, "x1", round="r1").drop_nulls("submission")["reason"].unique().to_list()
    assert told == ["every evaluation of it was struck"]


def test_round_of_the_first_schema_has_its_purpose_when_read() -> None:
    body = a_round("r2", 2).plain()
    for name in ("purpose", "over"):
        del body[name]
    versions = {"worksample": "0.1", "people.kind": "adjudication", "people.over": "r1"}
    found = from_envelope({"kind": "round", "schema": 1, "body": {**body, "versions": versions}})
    assert isinstance(found, Round)
    assert (found.purpose, found.over, found.versions) == (Purpose.ADJUDICATION, "r1", {"worksample": "0.1"})
    tags = from_envelope({"kind": "round", "schema": 1, "body": {**body, "versions": {"people.kind": "tags"}}})
    plain = from_envelope({"kind": "round", "schema": 1, "body": body})
    assert isinstance(tags, Round) and isinstance(plain, Round)
    assert (tags.purpose, plain.purpose) == (Purpose.FAILURES, Purpose.GRADING)

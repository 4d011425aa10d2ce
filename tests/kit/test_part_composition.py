from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import Cause, DeliverableError, GraderError, ReferenceUnreadable
from worksample.kit import Case, Check, checklist, checkpoints, every, file_pairs, gate_and_score, weighted
from worksample.kit.grade_check import check_result
from worksample.records import By, Criteria, Criterion, GradePayload, Importance, PartPayload

SHARES = st.floats(0, 1)
POINTS = st.floats(0.01, 100)


def case(*criteria: Criterion, **folders: Path) -> Case:
    return Case(folders, criteria=Criteria(criteria=criteria))


def leaf(id: str, points: float = 1.0, **more: object) -> Criterion:
    return Criterion(id=id, text=id, points=points, **more)  # type: ignore[arg-type]


@given(st.lists(st.tuples(SHARES, POINTS), min_size=1, max_size=6))
def test_scores_are_bounded_and_weighted_by_points(parts: list[tuple[float, float]]) -> None:
    nodes = [leaf(f"c{i}", p) for i, (_, p) in enumerate(parts)]
    given_parts = {f"c{i}": f for i, (f, _) in enumerate(parts)}
    total = sum(p for _, p in parts)
    grade = weighted(case(*nodes), given_parts)
    assert grade.score == pytest.approx(sum(f * p for f, p in parts) / total)
    binary = checklist(case(*nodes), given_parts)
    assert binary.score == pytest.approx(sum(p for f, p in parts if f >= 1 - 1e-9) / total)
    assert 0 <= binary.score <= grade.score + 1e-9 <= 1 + 1e-9
    assert all(p.fraction in (0.0, 1.0) for p in binary.parts) or any(p.fraction > 0.999 for p in binary.parts)


@given(st.lists(SHARES, min_size=2, max_size=5), st.data())
def test_better_part_never_lowers_a_score(shares: list[float], data: st.DataObject) -> None:
    better = [data.draw(st.floats(s, 1)) for s in shares]
    names = [f"c{i}" for i in range(len(shares))]
    nodes = [leaf(n, implies_others=i == len(names) - 1) for i, n in enumerate(names)]
    gated = [leaf(n, gate=i == 0) for i, n in enumerate(names)]

    def both(values: list[float]) -> list[float]:
        given_parts = dict(zip(names, values, strict=True))
        rest = {n: v for n, v in given_parts.items() if n != "c0"}
        return [
            weighted(case(*nodes), given_parts).score,
            checklist(case(*nodes), given_parts).score,
            checkpoints(case(*nodes), given_parts).score,
            gate_and_score(case(*gated), gates={"c0": values[0]}, score=rest).score,
        ]

    for low, high in zip(both(shares), both(better), strict=True):
        assert high >= low - 1e-9


@given(SHARES.filter(lambda s: s < 1 - 1e-9), SHARES)
def test_closed_gate_gives_zero_and_skips_later_parts(gate: float, rest: float) -> None:
    def never() -> float:
        raise AssertionError

    shut = gate_and_score(case(), gates={"opens": gate}, score={"quality": never})
    assert shut.score == 0
    assert "gate opens failed" in shut.parts[1].reason
    assert gate_and_score(case(), gates={"opens": True}, score={"quality": rest}).score == pytest.approx(rest)


def test_gate_of_the_criteria_closes_its_branch() -> None:
    nodes = (leaf("a", 9), Criterion(id="b", text="b", parts=(leaf("c", 1, gate=True), leaf("d", 2))))
    for compose in (weighted, checklist, checkpoints):
        flat = compose(case(*nodes), a=True, c=0.5, d=True)
        nested = compose(case(*nodes), a=True, b=lambda: weighted(case(*nodes), c=0.5, d=True))
        for grade in (flat, nested):
            assert grade.score == pytest.approx(9 / 12)
            assert (grade.parts[1].fraction, grade.parts[1].reason) == (0.0, "0 because the gate c failed")
            assert grade.reason == ""
        assert compose(case(*nodes), a=False, c=True, d=True).score == pytest.approx(0.25)


def test_top_level_gate_closes_the_whole() -> None:
    for nodes in (
        (leaf("a", 9), leaf("c", 1, gate=True)),
        (leaf("a", 9), Criterion(id="c", text="c", gate=True, parts=(leaf("d"), leaf("e")))),
    ):
        for compose in (weighted, checklist, checkpoints):
            grade = compose(case(*nodes), a=True, c=0.5)
            assert (grade.score, grade.reason) == (0.0, "0 because the gate c failed")


def test_gate_without_criteria_stays_in_place() -> None:
    free = case()
    grade = weighted(free, a=lambda: gate_and_score(free, gates={"g": False}, score={"s": True}), b=True)
    assert grade.score == 0.5


def test_last_checkpoint_implies_the_others() -> None:
    nodes = (leaf("one", 1), leaf("two", 3), leaf("done", 2, implies_others=True))
    grade = checkpoints(case(*nodes), one=False, two=0.5, done=True)
    assert (grade.score, grade.full, grade.partial) == (1, True, 1)
    assert grade.parts[0].reason.startswith("implied by done")
    partial = checkpoints(case(*nodes), one=True, two=0.5, done=False)
    assert partial.score == pytest.approx(2.5 / 6)
    assert partial.partial == pytest.approx(0.5 * 2.5 / 6)


def test_malformed_deliverable_fails_its_part_and_broken_reference_everything() -> None:
    def missing() -> Check:
        raise DeliverableError("is missing", where="a.csv")

    def broken() -> Check:
        raise ReferenceUnreadable("is missing", where="b.csv")

    grade = weighted(case(), a=missing, b=True)
    assert grade.score == 0.5
    assert grade.parts[0].reason == "a.csv: is missing"
    with pytest.raises(ReferenceUnreadable):
        weighted(case(), a=broken, b=True)


TREE = (
    Criterion(id="report", text="r", parts=(leaf("sums", 2), leaf("names", 1))),
    leaf("memo", 1, by=By.PERSON),
    Criterion(id="tidy", text="t", importance=Importance.OPTIONAL),
)


@pytest.mark.parametrize(
    "parts",
    [
        {"sums": 1, "names": 0, "tidy": 1},
        {"report": 2 / 3, "tidy": 1},
        {"report": lambda: weighted(case(*TREE), sums=1, names=0), "tidy": 1},
    ],
)
def test_branch_is_answered_by_itself_or_its_parts(parts: dict) -> None:
    grade = weighted(case(*TREE), parts)
    assert grade.score == pytest.approx(3 / 4)
    assert [(p.name, p.points, p.importance) for p in grade.parts] == [
        ("report", 3, None),
        ("tidy", 1, Importance.OPTIONAL),
    ]


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"sums": 1, "tidy": 1}, "does not answer the criterion 'names'"),
        ({"report": 1, "sums": 1, "tidy": 1}, "answered twice"),
        ({"report": 1, "tidy": 1, "memo": 1}, "no criterion 'memo' for programs"),
        ({"report": 1, "tidy": 1, "style": 1}, "no criterion 'style'"),
        ({"report": lambda: weighted(case(*TREE), sums=1, other=1), "tidy": 1}, "'names'"),
        ({}, "was given no part"),
    ],
)
def test_names_that_differ_from_the_criteria_leave_it_ungraded(parts: dict, says: str) -> None:
    with pytest.raises(GraderError, match=says) as caught:
        weighted(case(*TREE), parts)
    assert caught.value.cause is Cause.GRADER_MALFORMED
    assert caught.value.next == "correct grade.py or criteria.toml, then worksample task check FOLDER"


def test_gates_agree_on_both_sides() -> None:
    with pytest.raises(GraderError, match="is not a gate"):
        gate_and_score(case(leaf("a"), leaf("b")), gates={"a": True}, score={"b": True})
    with pytest.raises(GraderError, match="is a gate"):
        gate_and_score(case(leaf("a", gate=True), leaf("b", gate=True)), gates={"a": True}, score={"b": True})


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, 1.1, None, "1", [1]])
def test_invalid_share_is_refused(bad: object) -> None:
    with pytest.raises(GraderError) as caught:
        weighted(case(), a=lambda: bad)  # type: ignore[arg-type, return-value]
    assert caught.value.cause is Cause.GRADER_MALFORMED


@given(st.lists(SHARES, min_size=1, max_size=5))
def test_every_takes_the_worst(shares: list[float]) -> None:
    assert every(Check(s) for s in shares).fraction == min(shares)


def test_files_are_paired(tmp_path: Path) -> None:
    for side in ("output", "reference"):
        (tmp_path / side).mkdir()
        for name in ("a.txt", "b.txt", "c.txt"):
            (tmp_path / side / name).write_text(name)
    (tmp_path / "output" / "b.txt").write_text("else")
    (tmp_path / "output" / "c.txt").unlink()
    (tmp_path / "output" / "c.txt").symlink_to(tmp_path / "reference" / "c.txt")

    def same(got: Path, want: Path) -> bool:
        return got.read_text() == want.read_text()

    folders = {side: tmp_path / side for side in ("output", "reference")}
    grade = file_pairs(case(**folders), "*.txt", same)
    assert grade.score == pytest.approx(1 / 3)
    assert "is a link" in grade.parts[2].reason
    one = case(leaf("files", 5), **folders)
    assert file_pairs(one, ["a.txt"], same).parts[0].name == "files"
    two = case(leaf("files"), leaf("more"), **folders)
    nested = checklist(two, files=lambda: file_pairs(two, {"a.txt": "a.txt"}, same), more=False)
    assert nested.score == 0.5
    with pytest.raises(GraderError, match="answers only one criterion"):
        file_pairs(two, ["a.txt"], same)
    with pytest.raises(ReferenceUnreadable):
        file_pairs(case(**folders), ["d.txt"], same)


def test_reasons_with_lone_surrogates_can_be_stored() -> None:
    grade = weighted(case(), {"odd\udcff": lambda: Check(0.5, "a\udc80b")})
    assert GradePayload.model_validate_json(json.dumps(grade.plain())).parts[0].reason == "a\\udc80b"


def test_grades_survive_their_record() -> None:
    grade = checkpoints(case(*TREE), sums=0.5, names=1, tidy=0)
    assert GradePayload.model_validate_json(json.dumps(grade.plain())).plain() == grade.plain()


PART = st.builds(
    lambda name, points, fraction: PartPayload(name=name, points=points, fraction=fraction), st.text(), POINTS, SHARES
)


@given(st.lists(PART, min_size=1, max_size=4), SHARES)
def test_score_agrees_with_its_parts_or_says_why(parts: list[PartPayload], score: float) -> None:
    share = sum(p.points * (p.fraction or 0) for p in parts) / sum(p.points for p in parts)
    made = GradePayload(score=score, parts=tuple(parts))
    assert check_result(made.replaced(reason="two of them count once"), Criteria()).score == score
    assert check_result(made.replaced(score=min(1.0, share)), Criteria()).plain()["parts"] == made.plain()["parts"]
    if abs(share - score) > 1e-3:
        with pytest.raises(GraderError, match="no reason explains the difference") as caught:
            check_result(made, Criteria())
        assert caught.value.cause is Cause.GRADER_MALFORMED

"""`criteria.toml`: written and read back equal."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from running.profiles import examples
from worksample.files.config_files import Faults
from worksample.records import By, CheckpointKind, Criteria, Criterion, Importance
from worksample.tasks.criteria import read_criteria, write_criteria

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=60)


@st.composite
def nodes(draw: st.DrawFn, depth: int = 2) -> Criterion:
    id = "c" + draw(st.integers(0, 10**12).map(str))
    rest: dict[str, Any] = {"id": id, "text": draw(TEXT), "gate": draw(st.booleans())}
    if depth and draw(st.booleans()):
        return Criterion(**rest, parts=tuple(draw(st.lists(nodes(depth - 1), min_size=1, max_size=3))))
    by = draw(st.sampled_from(By))
    rest["kind"] = draw(st.sampled_from([None, *CheckpointKind]))
    if draw(st.booleans()):
        return Criterion(**rest, by=by, points=draw(st.floats(1e-3, 1e6)))
    return Criterion(**rest, by=by, importance=draw(st.sampled_from(Importance)))


@settings(max_examples=examples(100))
@given(st.lists(nodes(), min_size=1, max_size=4))
def test_written_criteria_read_back_equal(drawn: list[Criterion]) -> None:
    ids = [node.id for top in drawn for node in walk(top)]
    if len(set(ids)) < len(ids):
        return
    criteria, faults = Criteria(criteria=tuple(drawn)), Faults()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "criteria.toml"
        path.write_text(write_criteria(criteria), encoding="utf-8", newline="")
        read = read_criteria(path, faults)
    assert not faults.found, faults.found
    assert read == criteria


def walk(node: Criterion) -> list[Criterion]:
    return [node, *(below for part in node.parts for below in walk(part))]

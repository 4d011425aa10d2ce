"""Tables of finished work: checked whole, accepted once, judged like the experiment's own work."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from experiments.judged_by_people import config_of, hire, judge_all
from experiments.test_any_protocol import planned, run
from worksample.errors import FaultyRows, ImportFailed
from worksample.experiments.hand_in_from_table import HandedInMany, HandInMany, hand_in_many
from worksample.experiments.status import status_of
from worksample.records import Evaluation, Origin, Submission
from worksample.reports import leaderboard
from worksample.results.result_set import ResultSet
from worksample.store import Store

TASKS = Path(__file__).resolve().parent.parent / "suites" / "tiny" / "tasks"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
Row = dict[str, object]


def work_of(folder: Path, count: int) -> list[Row]:
    """Answers to `sums/small`, every third of them wrong."""
    rows: list[Row] = []
    for n in range(count):
        made = folder / f"work-{n}"
        made.mkdir()
        (made / "total.json").write_text(json.dumps({"count": 2, "total": 7 if n % 3 else 8}))
        rows.append({"task": str(TASKS / "sums"), "path": made.name, "instance": "small", "agent": f"bot-{n % 2}",
                     "repeat": n // 2 + 1, "minutes": 2.5 if n else None, "cost": None})  # fmt: skip
    return rows


def table(folder: Path, rows: list[Row], kind: str = "jsonl") -> Path:
    path, frame = folder / f"rows.{kind}", pl.DataFrame(rows, infer_schema_length=None)
    if kind == "csv":
        frame.write_csv(path)
    elif kind == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    return path


def taken(store: Store, path: Path, **rest: object) -> HandedInMany:
    what = HandInMany(path, author="tester", sandbox="none")
    return hand_in_many(store, what, **rest)  # type: ignore[arg-type]


@pytest.mark.quick("csv")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_every_kind_of_table_gives_the_same_work(tmp_path: Path, kind: str) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        done = taken(store, table(tmp_path, work_of(tmp_path, 3), kind), grade_now=False)
        assert [(s.entrant, s.origin, s.reported.minutes, s.reported.cost) for s in done.submissions] == [
            ("bot-0", Origin.EXTERNAL, None, None), ("bot-1", Origin.EXTERNAL, 2.5, None),
            ("bot-0", Origin.EXTERNAL, 2.5, None),
        ]  # fmt: skip


def test_interrupted_hand_in_is_accepted_and_graded_once(tmp_path: Path) -> None:
    path, seen = table(tmp_path, work_of(tmp_path, 9)), []

    def stop(submission: Submission) -> None:
        seen.append(submission.id)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with Store.open(tmp_path / "store", create=True) as store:
        with pytest.raises(KeyboardInterrupt):
            taken(store, path, on_done=stop)
        assert len(store.find(Submission)) == 4
        done = taken(store, path)
        assert (done.taken, done.graded, done.ungraded, len(store.find(Submission))) == (5, 9, 0, 9)
        again = taken(store, path)
        assert (again.taken, again.rounds, again.submissions) == (0, (), done.submissions)
        scores = [e.payload.score for e in store.find(Evaluation)]  # type: ignore[union-attr]
        assert sorted(scores) == [0.25] * 3 + [1.0] * 6


def test_all_faults_are_listed_by_row_and_nothing_is_accepted(tmp_path: Path) -> None:
    rows = work_of(tmp_path, 8)
    (tmp_path / "bad.zip").write_bytes(b"PK no")
    rows[0] |= {"path": "nowhere"}
    rows[1] |= {"instance": "huge"}
    rows[2] |= {"task": "no-task"}
    rows[3] |= {"minutes": -1.0}
    rows[5] |= {"path": "bad.zip"}
    rows[6] = rows[4]
    rows[7] |= {"repeat": 9}
    with Store.open(tmp_path / "store", create=True) as store:
        with pytest.raises(FaultyRows) as told:
            taken(store, table(tmp_path, [{**r, "person": None} for r in rows[3:4]]))
        assert told.value.faults == {"row 1": "minutes: is below 0"}
        with pytest.raises(FaultyRows, match="repeat"):
            taken(store, table(tmp_path, [{**rows[7], "repeat": 0}]))
        rows[3] |= {"minutes": 1.0}
        with pytest.raises(FaultyRows) as told:
            taken(store, table(tmp_path, rows))
        assert list(told.value.faults) == ["row 1", "row 2", "row 3", "row 6", "row 7"]
        assert "small, large" in told.value.faults["row 2"] and "repeats row 5" in told.value.faults["row 7"]
        assert store.find(Submission) == []
        for name, content in {"x.txt": "", "y.csv": "task,path\n", "z.jsonl": "{"}.items():
            (tmp_path / name).write_text(content)
            with pytest.raises(ImportFailed):
                taken(store, tmp_path / name)
        done = taken(store, table(tmp_path, rows[4:5]), grade_now=False)
        (tmp_path / "work-4" / "total.json").write_text("{}")
        with pytest.raises(
            FaultyRows, match=f"already handed in, with other files .submission {done.submissions[0].id}"
        ):
            taken(store, table(tmp_path, rows[4:5]))


def test_work_handed_in_for_an_experiment_is_judged_by_its_people(tmp_path: Path) -> None:
    config = config_of(tmp_path, "holistic")
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        run(store, experiment, config)
        rows: list[Row] = []
        for name in ("ada", "grace"):
            (tmp_path / f"by-{name}").mkdir()
            (tmp_path / f"by-{name}" / "letter.txt").write_text(f"My dear {name}")
            rows.append({"task": "letter", "path": f"by-{name}", "instance": name, "person": "Carla"})
        what = HandInMany(table(tmp_path, rows, "csv"), experiment, "tester")
        assert hand_in_many(store, what).taken == 2
        waiting = run(store, experiment, config).status
        assert (waiting.finished, waiting.handed_in, waiting.waits_for_people, waiting.complete) == (2, 2, 4, True)
        people, accounts = hire(store, "ann", "bob", "cem")
        assert judge_all(people, accounts) == 12
        after = status_of(store, experiment)
        assert (after.graded, after.waits_for_people, after.ungraded) == (4, 0, 0)
        mine = ResultSet(store, [experiment]).frame(experiment.lock.protocol).filter(pl.col("slot").is_null())
        assert (mine["label"].to_list(), mine["passed"].to_list()) == (["Carla"] * 2, [True] * 2)
        rows_ = {row.label: row for row in leaderboard(store, [experiment.id]).rows}
        assert rows_["Carla (person)"].graded == "2 handed in"

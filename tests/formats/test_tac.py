"""Import of TheAgentCompany's 39 tasks from the installed inspect_evals, and grading by their own evaluators."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli_json
from formats.tac_workspace_states import State, states, trajectory
from worksample.box import BoxConfig, BoxLimits, Mount
from worksample.errors import POLICY, Cause, UsageError
from worksample.formats.tac import import_tac
from worksample.formats.tac.published_task import PublishedTask, find_source, read_all
from worksample.records import Evaluation, GradePayload
from worksample.sandboxes import open_box
from worksample.store import Store
from worksample.tasks import Package, read_package

pytestmark = pytest.mark.tac

FILES_ONLY = {
    "admin_make_spreadsheet",
    "admin_remove_pages_pdf",
    "admin_translate_sales_chat",
    "admin_watch_video",
    "ds_coffee_shop_database_management",
    "ds_find_meeting_spreadsheet",
    "ds_fix_table_values_and_missing_answers",
    "ds_sql_exercise",
    "finance_nonqualified_bill_ask_for_reimburse",
    "hr_check_attendance_multiple_days_department",
    "hr_resume_categorization",
    "ml_grade_exam",
    "sde_copy_table_from_pdf_to_xlsx",
    "sde_create_sqlite_database",
}
FILES_AND_TALK = {
    "finance_check_attendance_payroll",
    "finance_expense_validation",
    "hr_check_attendance_multiple_days",
    "hr_check_attendance_one_day",
    "hr_organize_talent_info",
}

BROKEN = (
    {"finance_check_attendance_payroll", "hr_check_attendance_multiple_days"} if sys.version_info < (3, 14) else set()
)
"""Tasks whose evaluators annotate a function with `pd.Series[Any]`, which cannot be evaluated."""


@pytest.fixture(scope="module")
def published() -> dict[str, PublishedTask]:
    return {p.name: p for p in read_all(*find_source())}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Package]:
    """All 39 packages, imported with default settings."""
    made = import_tac(tmp_path_factory.mktemp("tac"))
    return {item.name: read_package(item.package) for item in made}


@pytest.mark.box
def test_all_39_packages_are_valid(packages: dict[str, Package], published: dict[str, PublishedTask]) -> None:
    assert len(packages) == 39
    for name, package in packages.items():
        assert package.id == "tac-" + name.replace("_", "-")
        brief = (package.root / "brief.md").read_text()
        assert published[name].prompt in brief
        inputs = [p for p in (package.root / "inputs").rglob("*") if p.is_file()]
        assert not [p for p in inputs if "utils" in p.relative_to(package.root / "inputs").parts]


@pytest.mark.box
def test_briefs_list_paths_of_deliverables(packages: dict[str, Package], published: dict[str, PublishedTask]) -> None:
    told = {n: p.instances[0].brief.rpartition("## Deliverables")[2].strip() for n, p in packages.items()}
    elsewhere = {n for n, text in told.items() if "/workspace" not in text}
    assert elsewhere == {n for n, task in published.items() if not task.is_local} | {"sde_run_rising_wave_locally"}
    assert {"hr_salary_analysis", "finance_invoice_matching", "ds_format_excel_sheets"} <= elsewhere
    assert told["ds_coffee_shop_database_management"] == "- `/workspace/analysis.txt`\n- `/data/coffee_shop.db`"
    assert told["finance_check_attendance_payroll"] == "- `/workspace/april-payroll.xlsx`"
    assert told["admin_make_spreadsheet"] == "- `/workspace/drinks_survey.csv`"
    assert told["sde_run_rising_wave_locally"].startswith("As described above")


@pytest.mark.box
def test_provided_files_are_not_deliverables(packages: dict[str, Package], published: dict[str, PublishedTask]) -> None:
    for name, package in packages.items():
        brief = package.instances[0].brief
        provided, _, wanted = brief.partition("## Provided material")[2].partition("## Deliverables")
        both = {line for line in provided.splitlines() if line.startswith("- ")} & set(wanted.splitlines())
        assert both <= {"- `/workspace/drinks_survey.csv`"}, name
        given = {line.strip("- `").rpartition("/")[2] for line in provided.splitlines() if line.startswith("- ")}
        assert given & {d.name for d in package.instances[0].deliverables} <= {"drinks_survey.csv"}, name
    none = {n for n, p in packages.items() if not p.instances[0].deliverables}
    assert none == {n for n, task in published.items() if not task.is_local} | {"sde_run_rising_wave_locally"}


def test_only_evaluators_of_files_and_conversation_run_without_services(
    published: dict[str, PublishedTask],
) -> None:
    alone = {name for name, task in published.items() if not task.grading_needs}
    assert {name for name in alone if not published[name].evaluator_needs.messages} == FILES_ONLY
    assert {name for name in alone if published[name].evaluator_needs.messages} == FILES_AND_TALK
    for name in published.keys() - alone:
        assert set(published[name].grading_needs) <= {"owncloud", "rocketchat", "a running RisingWave", "a judge model"}


def test_published_checkpoints_are_read_in_all_spellings(published: dict[str, PublishedTask]) -> None:
    points = {name: tuple(c.points for c in task.checkpoints) for name, task in published.items()}
    assert points["hr_organize_talent_info"] == (1, 1, 1, 1)
    assert points["admin_remove_pages_pdf"] == (1, 1, 1)
    assert points["ds_sql_exercise"] == (1, 2, 3)
    assert sum(points["sde_create_sqlite_database"]) == 8
    others = {
        n
        for n, task in published.items()
        if task.evaluator_needs.points and points[n] not in ((), task.evaluator_needs.points)
    }
    assert others == {"admin_remove_pages_pdf"}


def test_as_published_keeps_ground_truth_within_the_agents_reach(tmp_path: Path) -> None:
    made = import_tac(tmp_path, tasks=["finance_check_attendance_payroll"], as_published=True)[0]
    assert (made.package / "inputs" / "utils" / "rates_info.txt").is_file()
    assert import_tac(tmp_path, tasks=["finance_check_attendance_payroll"]).there == (made.package.name,)
    import_tac(tmp_path, tasks=["finance_check_attendance_payroll"], overwrite=True)
    assert not (made.package / "inputs" / "utils").exists()
    assert (made.package / "reference" / "rates_info.txt").is_file()


def test_unknown_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such task: nonesuch"):
        import_tac(tmp_path, tasks=["nonesuch"])


def utils(published: dict[str, PublishedTask], name: str, target: Path) -> Path:
    """Write the files that a task's image puts into /utils or /workspace into one folder."""
    target.mkdir(parents=True, exist_ok=True)
    for item in published[name].copied:
        shutil.copyfile(item.source, target / item.target.rsplit("/", 1)[-1])
    return target


def lay(root: Path, key: str, state: State, references: Path | None) -> None:
    for place, files in (("workspace", state.workspace), ("data", state.data)):
        (root / key / place).mkdir(parents=True)
        for name, data in files.items():
            path = root / key / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    (root / key / "trajectory").mkdir()
    if state.said is not None:
        (root / key / "trajectory" / "trajectory.json").write_bytes(trajectory(state))
    if references is not None:
        shutil.copytree(references, root / key / "utils")


async def grade_in_one_box(root: Path) -> dict[str, Any]:
    """Grade all cases below `root` in one process in one grading box."""
    here = Path(__file__).parent
    config = BoxConfig(
        mounts=(Mount(str(root), "/cases"), Mount(str(here), "/tests")),
        output="/workspace",
        writable=("/utils", "/data"),
        limits=BoxLimits(output=8 << 20),
        python="platform",
        label="tac",
    )
    async with open_box(config) as box:
        words = [sys.executable, "-P", "/tests/tac_grade_states.py", "/cases", f"{config.scratch}/results.json"]
        done = await box.run(words, timeout=300)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        return dict(json.loads(await box.read(f"{config.scratch}/results.json", 8 << 20)))


def _silent(state: State) -> State:
    """Return the same state without a conversation."""
    return replace(state, name="silent", said=None)


@pytest.fixture(scope="module")
def graded(published: dict[str, PublishedTask], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results for all states, and for evaluators that need more than files, graded in one process to save time."""
    root, given = tmp_path_factory.mktemp("cases"), tmp_path_factory.mktemp("given")
    cases = []
    for state in states(lambda name: utils(published, name, given / name)):
        key = f"{state.task}-{state.name}".replace(" ", "_").replace("'", "").replace(",", "")
        lay(root, key, state, utils(published, state.task, given / state.task))
        cases.append({"key": key, "task": state.task, "score": state.score})
    for name, task in published.items():
        if task.grading_needs:
            lay(root, name, State(name, "nothing", 0.0), utils(published, name, given / name))
            cases.append({"key": name, "task": name, "score": None})
    for name in ("finance_check_attendance_payroll", "admin_remove_pages_pdf"):
        lay(root, f"{name}-bare", State(name, "no reference", 0.0), None)
        cases.append({"key": f"{name}-bare", "task": name, "score": None})
    right = _silent(next(s for s in states(lambda name: given / name) if s.task == "hr_check_attendance_one_day"))
    lay(root, f"{right.task}-silent", right, utils(published, right.task, given / right.task))
    cases.append({"key": f"{right.task}-silent", "task": right.task, "score": None})
    (root / "cases.json").write_text(json.dumps(cases))
    found = asyncio.run(grade_in_one_box(root))
    return {case["key"]: {**found[case["key"]], "wanted": case["score"], "task": case["task"]} for case in cases}


@pytest.mark.box
@pytest.mark.long
def test_evaluators_of_files_and_conversation_tell_right_from_wrong(graded: dict[str, Any]) -> None:
    states = {key: case for key, case in graded.items() if case["wanted"] is not None}
    assert {case["task"] for case in states.values()} == FILES_ONLY | FILES_AND_TALK
    for task in FILES_ONLY | FILES_AND_TALK:
        wanted = {case["wanted"] for case in states.values() if case["task"] == task}
        assert 1.0 in wanted
        assert wanted - {1.0}
    odd = {
        key: (case.get("score"), case["wanted"], case["reason"])
        for key, case in states.items()
        if case["task"] not in BROKEN and case.get("score") != pytest.approx(case["wanted"])
    }
    assert not odd


@pytest.mark.box
@pytest.mark.long
def test_failing_evaluator_gives_no_score(graded: dict[str, Any]) -> None:
    for case in graded.values():
        if case["task"] in BROKEN and case["wanted"] is not None:
            assert case.get("cause") == str(Cause.GRADER_CRASH)
            assert "pd.Series[Any]" in case["reason"]


@pytest.mark.box
@pytest.mark.long
def test_evaluators_without_their_service_or_judge_never_give_0(
    graded: dict[str, Any], published: dict[str, PublishedTask]
) -> None:
    lacking = [name for name, task in published.items() if task.grading_needs]
    assert len(lacking) == 39 - len(FILES_ONLY | FILES_AND_TALK)
    for name in lacking:
        looks = published[name].evaluator_needs
        if not looks.services and "torch" not in looks.modules:
            # Nothing was delivered, so there was nothing to ask the judge about.
            assert graded[name]["score"] == 0.0, name
            continue
        assert graded[name].get("cause") == str(Cause.GRADER_LACKS), name
        assert not POLICY[Cause(graded[name]["cause"])].retry
        assert "score" not in graded[name]
        assert all(word in graded[name]["reason"] for word in looks.services or ("torch",))


@pytest.mark.box
@pytest.mark.long
def test_evaluator_of_conversation_gives_no_score_without_one(graded: dict[str, Any]) -> None:
    case = graded["hr_check_attendance_one_day-silent"]
    assert case.get("cause") == str(Cause.GRADER_LACKS)
    assert "this submission has no trajectory" in case["reason"]


@pytest.mark.box
@pytest.mark.long
def test_missing_reference_does_not_count_against_the_agent(graded: dict[str, Any]) -> None:
    for name in ("finance_check_attendance_payroll", "admin_remove_pages_pdf"):
        assert graded[f"{name}-bare"]["cause"] == str(Cause.GRADER_REFERENCE)


QUERY = """
import sqlite3
from pathlib import Path

base = sqlite3.connect("{input}/database.db")
products = base.execute("SELECT COUNT(*) FROM products").fetchone()[0]
kinds = base.execute("SELECT COUNT(DISTINCT category) FROM products").fetchone()[0]
dear = base.execute(
    "SELECT product_name, unit_price FROM products WHERE category = 'Electronics' ORDER BY unit_price @ORDER@ LIMIT 3"
)
lines = [chr(34) + name + chr(34) + ", " + format(price, ".2f") for name, price in dear]
for name, answer in [("task1", str(products)), ("task2", str(kinds)), ("task3", chr(10).join(lines))]:
    (Path("{output}") / (name + ".txt")).write_text(answer)
"""


@pytest.mark.thorough(
    quick="formats/test_tac_judge.py::test_judged_checkpoints_are_graded_by_the_ports_own_evaluators[charts]"
)
@pytest.mark.quick("DESC-1.0")
@pytest.mark.box
@pytest.mark.long(seconds=40)
@pytest.mark.parametrize(("order", "score"), [("DESC", 1.0), ("ASC", 0.5)])
def test_ds_sql_exercise_from_import_to_grade(order: str, score: float, tmp_path: Path) -> None:
    """One agent queries the database correctly, the other sorts in the wrong order."""
    made = import_tac(tmp_path / "tac", tasks=["ds_sql_exercise"])[0]
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    program = QUERY.replace("@ORDER@", order)
    quotes = '"' * 3
    step = f"[[step]]\nrun = {quotes}\npython3 - <<'PY'{program}PY\n{quotes}\n\n[[step]]\nsubmit = true\n"
    (scripts / "tac-ds-sql-exercise.toml").write_text(step)
    words = ("--agent", "scripted", "--script", scripts, "--store", tmp_path / "store", "--protocol", "checkpoints")
    done = cli_json("run", "--task", made.package, *words)
    assert (done["finished"], done["graded"]) == (1, 1)
    store = Store.open(tmp_path / "store")
    [evaluation] = store.find(Evaluation)
    store.close()
    assert isinstance(evaluation.payload, GradePayload)
    assert evaluation.payload.score == pytest.approx(score)
    assert [part.points for part in evaluation.payload.parts] == [1, 2, 3]

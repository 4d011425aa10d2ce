"""Runs of the port's tasks from import to grade, by scripted agents that use the workplace."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats.tac_port_runs import Outcome, run_port_tasks
from formats.tac_port_work import works
from worksample.formats.tac import import_tac
from worksample.formats.tac.company import AGENT, DOCUMENTS
from worksample.formats.tac.port_import import installed_tasks
from worksample.tasks import read_package
from worksample.workplace.company_reader import read_company

QUICK = "formats/test_tac_port.py::test_companies_are_complete_and_colleagues_passwords_unknown"
pytestmark = [
    pytest.mark.tac, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]  # fmt: skip
NOT_GRADED = {
    "ds_coffee_shop_database_management": "grader.lacks",
    "finance_check_attendance_payroll": "grader.crash",
    "hr_check_attendance_multiple_days": "grader.crash",
    "ml_generate_gradcam": "grader.lacks",
    "sde_run_rising_wave_locally": "grader.lacks",
}
UNSEEING_EVALUATORS = {"ds_format_excel_sheets"}
"""Tasks whose evaluator quotes the folder's name twice and therefore finds nothing."""
HIGHEST_SCORES = {"admin_mass_forms_filling": 0.8, "hr_create_employee_manual": 0.25}
"""Task -> the highest score of right work, limited by flaws of the port."""


def assert_expected_scores(found: dict[str, dict[str, Outcome]]) -> None:
    """Assert that right work gets the highest possible score, and wrong work a lower one."""
    for task, both in found.items():
        right, wrong = both["right"], both["wrong"]
        if task in NOT_GRADED:
            assert (right.cause, wrong.cause) == (NOT_GRADED[task],) * 2, (task, both)
        elif task in UNSEEING_EVALUATORS:
            assert (right.score, wrong.score) == (0.0, 0.0), (task, both)
        elif right.cause == "grader.lacks" and "fitz" in right.reason:
            assert task == "finance_apply_tax_credit"
        else:
            assert right.score == pytest.approx(HIGHEST_SCORES.get(task, 1.0)), (task, both)
            assert wrong.score is not None, (task, both)
            assert wrong.score < right.score, (task, both)


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick=QUICK)
def test_task_with_both_services_runs_from_import_to_grade(tmp_path: Path) -> None:
    found = run_port_tasks(tmp_path, ("hr_green_card_consultation",))
    assert_expected_scores(found)
    assert found["hr_green_card_consultation"]["right"].parts == ((1.0, 1.0),) * 3


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=1800)
@pytest.mark.timeout(7200)
@pytest.mark.thorough(quick=QUICK)
def test_all_39_tasks_run_from_import_to_grade(tmp_path: Path) -> None:
    found = run_port_tasks(tmp_path)
    assert len(found) == 39
    assert_expected_scores(found)
    told = [both for both in found.values() if (both["right"].score or 0.0) > (both["wrong"].score or 0.0)]
    assert len(told) >= 30


def test_every_task_has_right_and_wrong_work() -> None:
    given = [(work.task, work.name) for work in works()]
    assert len(set(given)) == len(given)
    assert set(given) == {(task.name, who) for task in installed_tasks() for who in ("right", "wrong")}


@pytest.mark.box
def test_companies_are_complete_and_colleagues_passwords_unknown(tmp_path: Path) -> None:
    """Colleagues' passwords are unknown, so an agent cannot log in as a colleague, as it could in the original."""
    made = {item.name: item for item in import_tac(tmp_path / "tac")}
    for task in installed_tasks():
        root = made[task.name].package
        environment = read_package(root).instances[0].environment
        assert environment.services == tuple({"owncloud": "files", "rocketchat": "chat"}[n] for n in task.services)
        if not task.services:
            continue
        company = read_company(root / "company")
        assert {one.id for one in company.person if one.password} == {AGENT}
        assert len(company.person) >= 18
        assert len(company.channels) == 15
        assert company.channels["project-ai"].members == (
            "liu_qiang", "mike_chen", "sarah_johnson", "sophia_rodriguez", "wang_fang",
        )  # fmt: skip
        assert all(AGENT in room.owners for room in company.channels.values())
        assert [one.id for one in company.colleagues] == [
            one.id for one in company.person if one.id in {c["username"] for c in task.colleagues}
        ]
        assert all((root / "company/files" / place).is_file() for place in DOCUMENTS.get(task.name, {}).values())


def test_given_documents_are_on_owncloud(tmp_path: Path) -> None:
    given = tmp_path / "cloud/Documents/Admin"
    given.mkdir(parents=True)
    (given / "gym.mp4").write_bytes(b"a film")
    [made] = import_tac(tmp_path / "tac", tasks=["admin_watch_video"], documents=tmp_path / "cloud")
    assert (made.package / "company/files/Documents/Admin/gym.mp4").read_bytes() == b"a film"
    assert "documents on ownCloud" not in made.needs
    [bare] = import_tac(tmp_path / "bare", tasks=["admin_watch_video"])
    assert "documents on ownCloud" in bare.needs

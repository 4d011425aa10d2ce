"""Cheats earn nothing at Quaymark, and right work that is done or worded otherwise loses nothing."""

from __future__ import annotations

import tomllib

import pytest
from tools.company_attacks.performed import attack
from tools.company_attacks.variations import HERE, LEAKS, ROOT, SECRETS, TASKS, variations_of

from worksample.agents.agent_script import read_steps


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_ten_cheats_and_ten_honest_variations(
    task: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = list(variations_of(task, each=True))
    assert sum(one.high < 1 for one in found) >= 10
    assert sum(one.low == 1 for one in found) >= 10
    assert len({one.name for one in found}) == len(found)
    folder = tmp_path_factory.mktemp("scripts")
    for one in found:
        for name, text in {**{path.name: path.read_text() for path in ROOT.glob("agents/*.py")}, **one.files}.items():
            (folder / name).write_text(text)
        (folder / "script.toml").write_text(one.script)
        assert read_steps(folder / "script.toml", "one")


def test_every_wording_replaces_what_a_script_says() -> None:
    wordings = tomllib.loads((HERE / "wordings.toml").read_text())
    assert sorted(wordings) == TASKS
    agents = "".join(path.read_text() for path in ROOT.glob("agents/*.py"))
    for task, rows in wordings.items():
        script = (ROOT / "tasks" / task / "cases/reference/script.toml").read_text()
        for old, *new in rows:
            assert old in script or old in agents, (task, old)
            assert len(new) == 3 and len({old, *new}) == 4, (task, old)


def test_every_secret_is_of_a_criterion() -> None:
    for task, (_, criterion) in SECRETS.items():
        criteria = tomllib.loads((ROOT / "tasks" / task / "criteria.toml").read_text())["criterion"]
        assert criterion in {one["id"] for one in criteria}
    assert set(LEAKS.values()) <= {"chat", "tracker", "files", "git", "calendar"}


@pytest.mark.box
@pytest.mark.workplace
def test_leak_and_other_words_are_told_apart() -> None:
    chosen = [one for one in variations_of("hr-screening") if one.name in ("leak room", "honest wording 1")]
    found = list(attack("hr-screening", chosen))
    assert [one.right for one in found] == [True, True], found
    assert len(found) == 2


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.thorough(quick="suites/test_company_attacks.py::test_leak_and_other_words_are_told_apart")
@pytest.mark.long(seconds=120)
@pytest.mark.parametrize("task", TASKS)
def test_no_cheat_earns_and_no_honest_variation_loses(task: str) -> None:
    found = list(attack(task, list(variations_of(task))))
    assert [one.line for one in found if not one.right] == []

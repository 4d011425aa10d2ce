from __future__ import annotations

from pathlib import Path

import pytest

from tasks.helpers_package import small, write
from worksample.errors import ManifestError
from worksample.files import HashSink
from worksample.files.config_files import FaultyManifest
from worksample.records import HostLists
from worksample.tasks import find_suite, ingest_suite, pin_suite, read_suite, scaffold, shipped_suites

SUITE = """
name = "pair"
title = "Two tasks"
version = "1"
visibility = "private"
tasks = ["tasks/*"]

[roles]
judge = "some/model"

[[tier]]
name = "near"
tasks = ["small"]

[[tier]]
name = "far"
instances = ["other/april"]
"""


def pair(folder: Path) -> Path:
    small(folder / "tasks")
    scaffold(folder / "tasks", "other")
    write(folder, {"suite.toml": SUITE})
    return folder / "suite.toml"


def faults(path: Path) -> list[str]:
    with pytest.raises(FaultyManifest) as caught:
        read_suite(path)
    return [str(f) for f in caught.value.faults]


def test_suite_is_read_and_ingested(tmp_path: Path) -> None:
    suite = read_suite(pair(tmp_path))
    assert suite.keys == ("other/march", "other/april", "small/one", "small/two")
    assert suite.tiers == (("near", ("small/one", "small/two")), ("far", ("other/april",)))
    taken = ingest_suite(suite, HashSink())
    assert taken.suite.id.startswith("pair@")
    assert taken.suite.visibility == "private"
    assert taken.suite.roles == {"judge": "some/model"}
    assert len(taken.suite.tiers[0].instances) == 2
    assert set(taken.suite.instances) == {i.id for i in taken.instances}
    assert ingest_suite(read_suite(tmp_path), HashSink()).suite == taken.suite


def test_suite_lists_hosts(tmp_path: Path) -> None:
    plain = ingest_suite(read_suite(pair(tmp_path)), HashSink()).suite
    assert plain.hosts is None and "hosts" not in plain.plain()
    lists = '[hosts]\nallow = ["*.wikipedia.org", "pypi.org:443"]\nblock = ["de.wikipedia.org", "*"]\n'
    write(tmp_path, {"suite.toml": SUITE + lists})
    suite = ingest_suite(read_suite(tmp_path), HashSink()).suite
    assert suite.hosts == HostLists(allow=("*.wikipedia.org", "pypi.org:443"), block=("de.wikipedia.org", "*"))
    assert suite.id != plain.id
    for wrong in (
        "10.0.0.1",
        "*.com",
        "a.example:0",
        "a.example:99999",
        "A.example",
        "2130706433",
        "[::1]",
        "http://a.b",
    ):
        write(tmp_path, {"suite.toml": SUITE + f'[hosts]\nblock = ["{wrong}"]\n'})
        assert "suite.toml: hosts.block" in faults(tmp_path)[0], wrong


def test_without_tiers_the_tasks_own_are_used(tmp_path: Path) -> None:
    path = pair(tmp_path)
    path.write_text(SUITE.partition("[[tier]]")[0])
    assert read_suite(path).tiers == (("easy", ("other/march", "other/april", "small/one", "small/two")),)


def test_locked_suite_names_the_changed_task(tmp_path: Path) -> None:
    path = pair(tmp_path)
    assert pin_suite(path) == tmp_path / "suite.lock"
    assert read_suite(path).name == "pair"
    write(tmp_path, {"tasks/small/notes.md": "changed"})
    found = faults(path)
    assert len(found) == 1
    assert found[0].startswith("suite.lock: packages.small: the task changed since it was pinned")
    pin_suite(path)
    assert read_suite(path).name == "pair"
    scaffold(tmp_path / "tasks", "third")
    assert faults(path) == ["suite.lock: packages.third: is a task of the suite, but is not in the lock"]


def test_faults_of_suite_and_tasks_come_together(tmp_path: Path) -> None:
    path = pair(tmp_path)
    text = SUITE.replace('"private"', '"secret"').replace('"other/april"', '"small/one", "smal/one"')
    path.write_text(text.replace('tasks = ["small"]', 'tasks = ["small"]\nlevel = 1'))
    write(tmp_path, {"tasks/other/criteria.toml": ""})
    found = "\n".join(faults(path))
    assert "suite.toml: visibility: 'secret' is not allowed" in found
    assert "suite.toml: tier[0].level: is not a key of tier[0]" in found
    assert "'smal/one' is not an instance of this suite; did you mean 'small/one'?" in found
    assert "tier[1].name: 'small/one' is in two tiers" in found
    assert "tasks/other/criteria.toml: criterion: the file has no criterion" in found


@pytest.mark.parametrize("tasks", ['["/etc"]', '["../x"]', '["../*"]', '["none/*"]', '["none"]', "[]"])
def test_tasks_must_lie_inside_the_suite(tmp_path: Path, tasks: str) -> None:
    path = pair(tmp_path)
    path.write_text(SUITE.partition("[[tier]]")[0].replace('["tasks/*"]', tasks))
    assert any(f.startswith("suite.toml: tasks") for f in faults(path))


def test_single_task_is_a_suite_of_one(tmp_path: Path) -> None:
    root = small(tmp_path)
    assert find_suite(str(root)) == root
    suite = read_suite(root)
    assert suite.keys == ("small/one", "small/two")
    with pytest.raises(ManifestError, match="no lock"):
        pin_suite(root)


def test_suites_are_found_by_name_and_path(tmp_path: Path) -> None:
    path = pair(tmp_path)
    assert find_suite(str(tmp_path)) == find_suite(str(path)) == path
    for name in shipped_suites():
        assert find_suite(name).name == "suite.toml"
    with pytest.raises(ManifestError, match="there is no suite"):
        find_suite("no-such-suite")

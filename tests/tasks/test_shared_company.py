"""A company that several packages of a suite share: recorded by digest, and never read from outside the suite."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from worksample.files import HashSink
from worksample.files.config_files import FaultyManifest
from worksample.tasks import ingest, read_package, read_suite
from worksample.tasks.suite_lock import package_digest, write_lock

EXAMPLE = Path(__file__).parents[2] / "examples/invoice-1043"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Two packages, and the company beside them."""
    root = tmp_path / "office"
    (root / "tasks").mkdir(parents=True)
    (root / "suite.toml").write_text('name = "office"\ntitle = "Office"\nversion = "1.0"\ntasks = ["tasks/*"]\n')
    for name in ("invoice-1043", "invoice-1044"):
        package = Path(shutil.copytree(EXAMPLE, root / "tasks" / name))
        company = package / "company"
        if (root / "company").exists():
            shutil.rmtree(company)
        else:
            company.rename(root / "company")
        text = (package / "task.toml").read_text().replace('"company"', '"../../company"')
        (package / "task.toml").write_text(text.replace("invoice-1043", name))
    return root


def test_packages_of_one_suite_share_one_company(suite: Path) -> None:
    found = [ingest(one, HashSink()).instances[0] for one in read_suite(suite).packages]
    own = ingest(read_package(EXAMPLE), HashSink()).instances[0]
    sources = [one.work.environment.workplace for one in (*found, own)]
    assert len({one.company.files for one in sources if one is not None}) == 1
    assert all(one is not None for one in sources)


def test_changed_company_is_new_work_and_breaks_the_lock_but_no_grader(suite: Path) -> None:
    package = read_package(suite / "tasks/invoice-1043")
    before, digest = ingest(package, HashSink()).instances[0], package_digest(package)
    write_lock(suite, read_suite(suite).packages)
    (suite / "company/files/boats/safety.md").write_text("None.\n")
    after = ingest(package, HashSink()).instances[0]
    assert after.work_digest != before.work_digest
    assert {k: g.digest for k, g in after.grading.items()} == {k: g.digest for k, g in before.grading.items()}
    assert package_digest(package) != digest
    with pytest.raises(FaultyManifest, match="changed since it was pinned"):
        read_suite(suite)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../../../company", "leads out of the suite"),
        ("../../companies", "is missing"),
        ("../../tasks", "is a folder that contains the package itself"),
        ("../..", "must be a path inside"),
        ("../../suite.toml", "is not a folder"),
        ("../../tasks/../company", "must be a path inside"),
        ("../../link", "goes through the link"),
    ],
)
def test_path_outside_the_suite_is_a_fault(suite: Path, name: str, said: str) -> None:
    (suite / "link").symlink_to("company")
    path = suite / "tasks/invoice-1043/task.toml"
    path.write_text(path.read_text().replace('"../../company"', f'"{name}"'))
    with pytest.raises(FaultyManifest, match=said):
        read_package(path.parent)


def test_without_a_suite_nothing_outside_the_package_is_read(suite: Path) -> None:
    (suite / "suite.toml").unlink()
    with pytest.raises(FaultyManifest, match="the package is in no suite"):
        read_package(suite / "tasks/invoice-1043")

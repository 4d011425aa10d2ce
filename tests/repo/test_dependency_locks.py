"""Lock files pin the dependencies of pyproject.toml by hash, without addresses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked(name: str) -> dict[str, str]:
    """Package -> version of a lock."""
    text = (ROOT / "locks" / f"{name}.txt").read_text()
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", ["run", "dev"])
def test_every_dependency_is_locked_within_its_bounds(name: str) -> None:
    wanted = [Requirement(text) for text in PROJECT["dependencies"]]
    if name == "dev":
        extras = [text for group in PROJECT["optional-dependencies"].values() for text in group]
        wanted += [Requirement(text) for text in extras if not text.startswith("worksample")]
    have = {canonicalize_name(package): version for package, version in locked(name).items()}
    for requirement in wanted:
        version = have.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in locks/{name}.txt: ./dev lock"
        assert requirement.specifier.contains(version), f"{requirement} but {version} is locked: ./dev lock"


@pytest.mark.parametrize("name", ["run", "dev", "uv"])
def test_locks_have_hashes_and_no_address(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text()
    assert "://" not in text
    packages = len(re.findall(r"^\S+==", text, re.MULTILINE))
    assert packages
    assert len(re.findall(r"^\S+==.*\\\n    --hash=sha256:", text, re.MULTILINE)) == packages


def test_development_script_installs_requirements_of_views() -> None:
    from worksample.viewing.converter_requirements import DEBIAN

    script = (ROOT / "dev").read_text()
    listed = re.search(r'^VIEW="([^"]+)"', script, re.MULTILINE)
    assert listed
    assert sorted(listed[1].split()) == sorted(DEBIAN)

"""Escapes from a box: every attack fails, in boxes of root, of an ordinary user and of a Docker daemon."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import worksample
from sandboxes import daemon
from sandboxes.attacks.world import ATTACKS
from sandboxes.images import machine
from worksample.sandboxes.host_state import cache_folder

for _name in ("files", "network", "processes", "kernel", "resources"):
    importlib.import_module(f"sandboxes.attacks.{_name}")

pytestmark = pytest.mark.box

ROOT = os.geteuid() == 0
USER = 1500
"""The ordinary user that rootless boxes are tried as when the tests run as root; it needs no account."""
DRIVER = Path(__file__).parent / "attacks" / "drive.py"
ROOTLESS_SHARE = 5
"""Where both kinds can be had, the quick profile tries one attack in so many on the rootless one too."""


IMAGE_SHARE = 16
"""The quick profile tries one attack in so many on boxes with the root of an image."""


def _marks(kind: str, name: str, number: int) -> list[pytest.MarkDecorator]:
    stands_for_it = f"sandboxes/test_escapes.py::test_attack_does_not_escape[{'root' if ROOT else 'rootless'}-{name}]"
    marks = [
        pytest.mark.skipif("rootless" not in kind and not ROOT, reason="not applicable: the tests do not run as root")
    ]
    if kind.startswith("docker"):
        return [*marks, pytest.mark.docker, pytest.mark.thorough(quick=stands_for_it)]
    if kind.startswith("image"):
        away = number % IMAGE_SHARE != (0 if kind == "image-root" else IMAGE_SHARE // 2)
        return [*marks, *([pytest.mark.thorough(quick=stands_for_it)] if away else [])]
    if kind == "root":
        return marks
    if ROOT and number % ROOTLESS_SHARE:
        return [pytest.mark.thorough(quick=f"sandboxes/test_escapes.py::test_attack_does_not_escape[root-{name}]")]
    return []


SOURCE = str(Path(worksample.__file__).resolve().parents[1])
"""Of the platform that is attacked."""
CASES = [
    pytest.param(kind, name, marks=_marks(kind, name, number))
    for kind in ("root", "rootless", "image-root", "image-rootless", "docker-root", "docker-image-root")
    for number, (name, one) in enumerate(ATTACKS.items())
    if (kind.endswith("-root") or kind == "root" or one.only != "root") and not ("image" in kind and one.image)
]


def _interpreter() -> str:
    """A Python that any user may run, of the version our libraries are for."""
    wanted = f"{sys.version_info.major}.{sys.version_info.minor}"
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in (str(Path(getattr(sys, "_base_executable", sys.executable)).resolve()), "/usr/bin/python3"):
        if shutil.which(path):
            done = subprocess.run(
                [*_as_user(), path, "-I", "-c", code], capture_output=True, text=True, check=False, cwd="/"
            )
            if done.stdout.strip() == wanted:
                return path
    raise AssertionError(f"no Python {wanted} that another user may run: install python{wanted} for the rootless half")


def _as_user() -> list[str]:
    """A prefix to a command; `env`, because setpriv itself still finds programs with root's rights."""
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "/usr/bin/env"]


def _start(kind: str, folder: Path) -> subprocess.Popen[str]:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ATTACK_DIR": str(folder),
        "PYTHONPATH": SOURCE,
    }
    words = [sys.executable, str(DRIVER)]
    rootless = kind.endswith("rootless")
    if kind.startswith("docker"):
        env["ATTACK_KIND"], env["DOCKER_HOST"] = "docker", os.environ["DOCKER_HOST"]
    if "image" in kind:
        env["ATTACK_IMAGE"] = str(_image(folder / "image", rootless and ROOT))
    if not rootless or not ROOT:  # what it makes once for all boxes is there already
        env["XDG_CACHE_HOME"] = str(cache_folder().parent)
    if rootless and ROOT:
        _let_in()
        os.chown(folder, USER, USER)
        env["XDG_CACHE_HOME"] = str(_cache())
        packages = [path for path in sys.path if path.endswith("site-packages")]
        env["PYTHONPATH"] = ":".join([SOURCE, *packages])
        words = [*_as_user(), _interpreter(), str(DRIVER)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd="/")


def _let_in() -> None:
    """A root user's clone lies in a home that others may not enter."""
    for folder in DRIVER.resolve().parents:
        if not folder.stat().st_mode & stat.S_IXOTH:
            pytest.skip(f"not applicable: another user may not enter {folder}; chmod o+x, or a clone elsewhere")


def _cache() -> Path:
    """What boxes of the ordinary user are made of, once for all of its drivers: their libraries take long to copy."""
    folder = Path(f"/tmp/worksample-attacks-cache-{os.getpid()}")
    if not folder.exists():
        folder.mkdir(mode=0o755)
        os.chown(folder, USER, USER)
    return folder


def _image(folder: Path, given: bool) -> Path:
    """A root file system of this machine's programs; given to the ordinary user."""
    machine.make(folder)
    if given:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)
    return folder


Ask = Callable[[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Have an attack tried by the driver of a kind, which is started when it is first needed."""
    drivers: dict[str, subprocess.Popen[str]] = {}
    folders: list[Path] = []

    def ask_one(kind: str, name: str) -> dict[str, Any]:
        if kind not in drivers:
            folder = Path(f"/tmp/worksample-attacks-{kind}-{os.getpid()}")
            folder.mkdir(mode=0o755, exist_ok=True)  # from one that was skipped
            folders.append(folder)
            drivers[kind] = _start(kind, folder)
            _line(drivers[kind])
        driver = drivers[kind]
        assert driver.stdin is not None
        driver.stdin.write(name + "\n")
        driver.stdin.flush()
        return dict(json.loads(_line(driver)))

    yield ask_one
    for driver in drivers.values():
        assert driver.stdin is not None and driver.stdout is not None
        driver.stdin.close()
        driver.wait(120)
        driver.stdout.close()
    for folder in (*folders, _cache()):
        shutil.rmtree(folder, ignore_errors=True)


def _line(driver: subprocess.Popen[str]) -> str:
    assert driver.stdout is not None
    line = driver.stdout.readline()
    assert line, "the driver of the attacks ended"
    return line


@pytest.fixture(scope="module")
def docker() -> Iterator[None]:
    with daemon.running() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", url)
        yield


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_attack_does_not_escape(kind: str, name: str, ask: Ask, request: pytest.FixtureRequest) -> None:
    if kind.startswith("docker"):
        request.getfixturevalue("docker")
    answer = ask(kind, name)
    assert "error" not in answer, answer["error"]
    assert answer["control"] is not False, "the attack does not work without protection either: it proves nothing"
    assert not answer["succeeded"]
    assert answer["alive"], "the box did not survive the attack"


def test_attacks_are_of_many_kinds_and_have_controls() -> None:
    assert len(ATTACKS) >= 40
    assert sum(bool(one.control) for one in ATTACKS.values()) >= len(ATTACKS) / 2

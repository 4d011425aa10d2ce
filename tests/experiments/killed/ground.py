"""A place with folders, caches and settings of its own in which platforms are killed, and what is found there after."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from dataclasses import dataclass
from pathlib import Path

from cli.run_cli import TINY, clean_environment
from sandboxes.images import machine
from sandboxes.images.test_task_with_image import package as note
from sandboxes.services.test_task_with_service import package as ticket
from sandboxes.services.test_task_with_service import steps
from worksample.sandboxes import cgroups
from worksample.sandboxes import python_toolbox as toolbox
from worksample.sandboxes.host_state import cache_folder

LEAVES = """[[step]]
run = '''(setsid sleep 600 >/dev/null 2>&1 &); setsid sh -c "while :; do sleep 0.1; done" >/dev/null 2>&1 &'''

[[step]]
run = '''sleep 0.2; printf 'Hello, %s!' "$(cat {input}/name.txt)" > {output}/greeting.txt'''
"""
LINGERS = "[[step]]\nrun = '(setsid sleep 600 >/dev/null 2>&1 &)'\n"
BACKEND = """
import subprocess, time, zipfile
INFO = {"METADATA": "Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n",
        "WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n", "RECORD": ""}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    name = "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("small/__init__.py", "")
        for file, text in INFO.items():
            wheel.writestr(f"small-1.0.dist-info/{file}", text)
    return name
"""
PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "small"
version = "1.0"
"""
HARNESS = """from worksample.agents.installing.agent_program import Program, PyPI
SMALL = Program(name="small", about="x", source=PyPI("small"), tried="1.0", argv=("true",))
"""


@dataclass(frozen=True)
class Ground:
    """One such place. All that a killed platform can leave lies in `runtime`, `cache`, `temporary` and /var/tmp."""

    folder: Path
    docker: str
    """Where the daemon answers; "" without one."""

    @property
    def env(self) -> dict[str, str]:
        """Of the platforms."""
        at = self.folder
        return clean_environment(
            WORKSAMPLE_RUNTIME_DIR=str(at / "runtime"),
            XDG_CACHE_HOME=str(at / "cache"),
            XDG_DATA_HOME=str(at / "data"),
            TMPDIR=str(at / "temporary"),
            UV_CACHE_DIR=str(at / "uv"),
            UV_NO_INDEX="1",
            UV_FIND_LINKS=str(at / "links"),
            WORKSAMPLE_BUILDS=str(at / "builds.toml"),
            PYTHONPATH=str(at / "harness"),
            LOCAL_API_KEY="sk",
            INSPECT_DISPLAY="none",
            DOCKER_HOST=self.docker or "unix:///nowhere",
        )

    def lay(self) -> None:
        """Put down what the work is about."""
        at = self.folder
        for name in ("runtime", "cache", "data", "temporary", "links"):
            (at / name).mkdir(parents=True)
        own = at / "cache/worksample"
        own.mkdir()
        for made in (toolbox.toolbox_folder(), *cache_folder().glob("library-*"), *cache_folder().glob("node-*")):
            (own / made.name).symlink_to(made)  # what takes long and is made in the same way as all else
        image = machine.tarred(machine.make(at / "root"))
        shutil.rmtree(at / "root")
        (note(at) / "image.tar").write_bytes(image)
        (at / "builds.toml").write_text(f'hosts = []\n[bases]\n"debian:12" = "{at}/note/image.tar"\n')
        ticket(at)
        shutil.copytree(TINY / "tasks/greeting", at / "greeting")
        for name, task, script in (
            (
                "posts",
                "ticket",
                LINGERS + steps("http://desk.example.com/ticket", "milk"),
            ),
            ("leaves", "greeting", LEAVES),
        ):
            (at / name).mkdir()
            (at / name / f"{task}.toml").write_text(script)
        self._lay_program()

    def _lay_program(self) -> None:
        small = self.folder / "small-1.0"
        small.mkdir()
        files = {
            "pyproject.toml": PROJECT,
            "backend.py": BACKEND,
            "PKG-INFO": "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n",
        }
        for name, text in files.items():
            (small / name).write_text(text)
        with tarfile.open(self.folder / "links/small-1.0.tar.gz", "w:gz") as tar:
            tar.add(small, "small-1.0")
        info = self.folder / "harness/small_harness-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small-harness\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[worksample.harnesses]\nsmall = small_harness:SMALL\n")
        (info.parent / "small_harness.py").write_text(HARNESS)

    def left(self, pids: set[int]) -> list[str]:
        """What killed platforms with these numbers left: whatever is no record, no whole thing of a cache, no lock."""
        at = self.folder
        found = [
            f"box {path}"
            for kind in ("boxes", "plain", "containers", "workplaces")
            for path in (at / "runtime" / kind).glob("*")
        ]
        found += [f"temporary {path}" for path in (at / "temporary").iterdir()]
        found += [
            f"socket {path}"
            for top in ("runtime", "cache", "data")
            for path in sorted((at / top).rglob("*"))
            if _is_socket(path)
        ]
        found += [
            f"build {path}"
            for path in Path("/var/tmp").glob("worksample-build-*")
            if int(path.name.split("-")[2]) in pids
        ]
        found += [f"half {path}" for path in sorted((at / "cache/worksample").glob("**/.*.new"))]
        found += [
            f"beginning {path}"
            for path in self._beginnings()
            if path.name.endswith(".new") or (path.is_dir() and not (path / "told.json").is_file())
        ]
        found += [
            f"image {path}"
            for path in (at / "cache/worksample/sandboxes/images").glob("*")
            if path.name != "names" and path.is_dir() and not (path / "image.json").is_file()
        ]
        found += [
            f"note {path}"
            for path in (at / "cache/worksample/sandboxes/images/names").glob("*")
            if path.suffix not in ("", ".json")
        ]
        found += [
            f"agent {path}"
            for path in (at / "cache/worksample/agents").glob("*")
            if path.is_dir() and not (path / "installed.json").is_file()
        ]
        found += [f"control group {path}" for path in _groups(pids)]
        found += [f"mount {line}" for line in Path("/proc/1/mountinfo").read_text().splitlines() if str(at) in line]
        found += [
            f"mount {line}"
            for line in Path("/proc/self/mountinfo").read_text().splitlines()
            if str(at) in line and "/var/tmp/ws-docker" not in line
        ]
        return found + self._containers()

    def _beginnings(self) -> list[Path]:
        import hashlib

        name = hashlib.sha256(os.fsencode(self.folder / "cache/worksample")).hexdigest()[:16]
        return sorted(Path("/var/tmp").glob(f"worksample-beginnings-*-{name}/*"))

    def _containers(self) -> list[str]:
        if not self.docker:
            return []
        from worksample.sandboxes.containers import docker_daemon as daemon

        listed = daemon.connect(self.docker).api.containers(all=True, filters={"label": daemon.LABEL})
        volumes = daemon.connect(self.docker).api.volumes()["Volumes"] or []
        return [f"container {one['Names']} {one['State']}" for one in listed] + [
            f"volume {one['Name']}" for one in volumes
        ]

    def remove(self) -> None:
        """Nothing of it is left."""
        for path in {one.parent for one in self._beginnings()}:
            shutil.rmtree(path, ignore_errors=True)


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False


def _groups(pids: set[int]) -> list[Path]:
    parents = cgroups.find_parents()
    folders = {parents.memory, parents.pids, parents.freezer, parents.unified, parents.cpu} - {None}
    return [path for pid in pids for folder in folders if folder for path in folder.glob(f"{cgroups.PREFIX}{pid}-*")]

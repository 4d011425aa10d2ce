"""Grades a package's submissions in this process, without store and sandbox: quick enough for every case, twice.

A program that a grader asks to run (`case.run`) is run as a plain process in a folder of its own. That is fine for the
cases that ship with the suite, which are ours; submissions of agents go through `worksample.grading` alone.
"""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import worksample
from worksample.kit.broker_client import HEAD, frame
from worksample.kit.grader_process import outcome
from worksample.records import Criteria

if TYPE_CHECKING:
    from worksample.agents.agent_script import ScriptStep

SUITE = Path(worksample.__file__).parent / "suites" / "starter"


@dataclass(frozen=True)
class Package:
    """A task's folder with its manifest and criteria as they stand in the files."""

    root: Path
    manifest: dict[str, Any]
    criteria: dict[str, Any]

    @classmethod
    def read(cls, name: str, suite: Path = SUITE) -> Package:
        root = suite / "tasks" / name
        criteria = tomllib.loads((root / "criteria.toml").read_text())
        return cls(root, tomllib.loads((root / "task.toml").read_text()), {"criteria": plain(criteria["criterion"])})

    @property
    def instances(self) -> dict[str, dict[str, Any]]:
        return {i["name"]: i for i in self.manifest["instance"]}

    def reference(self, instance: str) -> Path:
        return self.root / self.instances[instance]["reference"]

    def inputs(self, instance: str) -> Path:
        return self.root / self.instances[instance]["inputs"]

    def cases(self) -> list[tuple[Path, dict[str, Any]]]:
        found = sorted((self.root / "cases").glob("*/case.toml"))
        return [(f.parent, tomllib.loads(f.read_text())) for f in found]


def plain(criteria: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`[[criterion.part]]` of the file as `parts` of the record."""
    return [{**{k: v for k, v in c.items() if k != "part"}, "parts": plain(c.get("part", []))} for c in criteria]


def grade(
    package: Package, instance: str, output: Path, scratch: Path, *, reference: Path | None = None
) -> dict[str, Any]:
    """What the package's grader says of a folder: `{"grade": ...}` or `{"failed": cause, "reason": text}`."""
    about = package.instances[instance]
    settings = {**package.manifest["grading"]["program"].get("settings", {}), **about.get("settings", {})}
    folders = {
        "output": output,
        "reference": reference or package.reference(instance),
        "input": package.inputs(instance),
        "grader": package.root,
    }
    Criteria.model_validate(package.criteria)
    with programs(scratch, folders) as broker:
        case = {
            "folders": {name: str(path) for name, path in folders.items()},
            "entry": "grade.py",
            "settings": settings,
            "criteria": package.criteria,
            "broker": str(broker),
        }
        before = list(sys.path), set(sys.modules)
        found = outcome(case)
        sys.path[:] = before[0]
        for name in set(sys.modules) - before[1]:
            if str(package.root) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
    return found


@contextmanager
def programs(scratch: Path, folders: dict[str, Path]) -> Iterator[Path]:
    """The other end of `case.run`: a thread that runs what is asked for, without the reference's path in reach."""
    count = itertools.count(1)

    class Conversation(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while head := self.rfile.read(HEAD.size):
                asked = json.loads(self.rfile.read(*HEAD.unpack(head)))
                answer = run(asked["body"], scratch / f"run{next(count)}", folders)
                self.wfile.write(frame({"number": asked["number"], "answer": answer}))

    with tempfile.TemporaryDirectory() as short:
        path = Path(short) / "broker.sock"
        with socketserver.ThreadingUnixStreamServer(str(path), Conversation) as server:
            server.daemon_threads, server.block_on_close = True, False
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield path
            finally:
                server.shutdown()
                thread.join()


def placed(text: str, folders: dict[str, Path]) -> str:
    """A box's paths as this machine's."""
    for name in ("output", "input"):
        text = text.replace(f"/task/{name}", str(folders[name]))
    return text


def run(request: dict[str, Any], place: Path, folders: dict[str, Path]) -> dict[str, Any]:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, data in request["files"].items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
    argv = [placed(a, folders) for a in request["argv"]]
    if argv[0] == "python3":
        argv[0] = sys.executable
    try:
        done = subprocess.run(
            argv,
            cwd=place,
            input=request["stdin"].encode(),
            capture_output=True,
            timeout=request["timeout"],
            check=False,
            env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        )
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = None, error.stdout or b"", error.stderr or b""
    files = {n: (place / n).read_bytes() for n in request["collect"] if (place / n).is_file()}
    pack = lambda data: base64.b64encode(data).decode()  # noqa: E731
    return {"exit": code, "stdout": pack(out), "stderr": pack(err), "files": {n: pack(d) for n, d in files.items()}}


def lay_case(package: Package, folder: Path, case: dict[str, Any], target: Path) -> Path:
    """A case's submission: its base with the files of its `output/` laid over it."""
    shutil.rmtree(target, ignore_errors=True)
    if case.get("base") == "reference":
        shutil.copytree(package.reference(case["instance"]), target)
    else:
        target.mkdir(parents=True)
    if (folder / "output").is_dir():
        shutil.copytree(folder / "output", target, dirs_exist_ok=True)
    return target


def play(steps: Iterable[ScriptStep], inputs: Path, place: Path) -> Path:
    """A script's commands and files, played as plain processes; gives the output folder."""
    from worksample.agents.agent_script import fill_placeholders

    words = {"input": str(inputs), "output": str(place / "output"), "scratch": str(place / "scratch")}
    for name in ("output", "scratch"):
        (place / name).mkdir()
    for step in steps:
        if step.write is not None:
            path = Path(fill_placeholders(step.write, words, raw=False))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill_placeholders(step.text or "", words, raw=step.raw), encoding="utf-8")
        elif step.run is not None:
            command = ["bash", "-c", fill_placeholders(step.run, words, raw=step.raw)]
            subprocess.run(command, cwd=place / "scratch", check=True, capture_output=True, timeout=60)
    return place / "output"

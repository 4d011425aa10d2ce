"""Installed programs: their records, their digests, and refusals before anything runs."""

from __future__ import annotations

import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from experiments.material import an_instance
from worksample.agents import define, harness_names
from worksample.agents.agent_builder import check_agent, mounts_of
from worksample.agents.installing import find_installed, find_program, list_installed, program_names
from worksample.agents.installing.install_result import run_installer
from worksample.agents.installing.installed_programs import ABOUT, TREE, Installed, agents_folder, digest_of_tree
from worksample.agents.installing.installer import parse_name, parse_source, remove
from worksample.errors import InstallError, PlanError, UsageError
from worksample.experiments.agent_check import arguments_of
from worksample.runs.agent_log import _files

MODEL = "openai-api/local/model-1"
KNOWN = {"program", "node", "arch", "machine", "door", "model", "brief", "input", "output", "software", "scratch"}
KNOWN |= {"mcp"}
EIGHT = ("aider", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "openhands", "qwen-code")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def put(name: str, version: str, digest: str = "d" * 64, *, anywhere: bool = False) -> Installed:
    """As if it had been installed."""
    folder = agents_folder() / f"{name}-{version}-{digest[:16]}"
    (folder / TREE).mkdir(parents=True)
    one = Installed(name, version, digest, str(folder / TREE), {"x": "1"}, runtime="node 1", anywhere=anywhere)
    (folder / ABOUT).write_text(json.dumps(one.plain()))
    return one


@pytest.mark.parametrize("name", EIGHT)
def test_harness_file_is_complete(name: str) -> None:
    program = find_program(name)
    assert program is not None and program.tried and program.logs
    for text in (*program.argv, *program.env.values(), *program.files.values()):
        assert set(re.findall(r"\{([a-z]+)\}", text)) <= KNOWN
    assert any("{model}" in text for text in (*program.argv, *program.env.values(), *program.files.values()))


@pytest.mark.parametrize("name", EIGHT)
def test_docs_name_the_tried_version(name: str) -> None:
    program = find_program(name)
    page = (Path(__file__).parents[2] / "docs/how-to/choose-an-agent.md").read_text(encoding="utf-8")
    assert program is not None
    assert f"`{program.source.package}` | {program.tried} |" in page


def test_eight_programs_are_found_by_entry_point() -> None:
    assert set(EIGHT) <= set(program_names())
    assert set(EIGHT) <= set(harness_names())
    assert find_program("worker") is None


def test_memory_of_a_program_is_part_of_its_record() -> None:
    put("qwen-code", "1.0")
    put("codex", "1.0")
    assert define(harness="qwen-code", model=MODEL).settings["memory"] == 1280 << 20
    assert "memory" not in define(harness="codex", model=MODEL).settings


def test_installed_versions_are_removed() -> None:
    first, second = put("codex", "1.0"), put("codex", "2.0", "e" * 64)
    assert [one.version for one in remove("codex@1.0")] == ["1.0"]
    assert not Path(first.folder).exists() and [one.version for one in list_installed("codex")] == ["2.0"]
    assert [one.version for one in remove("codex")] == ["2.0"] and not Path(second.folder).exists()
    with pytest.raises(UsageError, match="is not installed"):
        remove("codex")


def test_local_package_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "codex.tgz").write_bytes(b"")
    assert parse_source(f"codex={tmp_path / 'codex.tgz'}") == ("codex", str(tmp_path / "codex.tgz"))
    assert parse_source("codex@1.0") == ("codex@1.0", "")
    with pytest.raises(UsageError, match="there is no package"):
        parse_source(f"codex={tmp_path / 'gone'}")


@pytest.mark.parametrize(
    "schema",
    [
        {"command": "string"},
        {"command": "array", "workdir": "string"},
        {"cmd": "string", "is_background": "boolean", "timeout": "number"},
    ],
)
def test_check_fills_the_arguments_of_any_shell_tool(schema: dict[str, str]) -> None:
    from inspect_ai.tool import ToolInfo, ToolParams
    from inspect_ai.util import JSONSchema

    properties = {name: JSONSchema(type=kind) for name, kind in schema.items()}  # type: ignore[arg-type]
    shell = ToolInfo(name="x", description="x", parameters=ToolParams(properties=properties, required=list(schema)))
    given = arguments_of(shell, "echo hi")
    assert set(given) == set(schema)
    assert given.get("command", given.get("cmd")) in ("echo hi", ["sh", "-c", "echo hi"])


def test_record_has_the_complete_call_of_a_program() -> None:
    put("codex", "1.0")
    agent = define(harness="codex", model=MODEL, settings={"env": {"A": "b"}, "args": ["--more"]})
    assert (agent.settings["version"], agent.settings["program"], agent.settings["runtime"]) == (
        "1.0",
        "d" * 64,
        "node 1",
    )
    assert agent.settings["argv"][0].startswith("/opt/worksample/agent/node_modules/")
    assert agent.settings["env"]["A"] == "b" and agent.settings["env"]["DO_NOT_TRACK"] == "1"
    assert 'base_url = "{door}/v1"' in agent.settings["files"][".codex/config.toml"]
    assert [(m.target, m.writable) for m in mounts_of(agent)] == [("/opt/worksample/agent", False)]
    put("codex", "2.0", "e" * 64)
    assert define(harness="codex", model=MODEL, settings={"version": "2.0"}).id != agent.id
    assert (
        define(harness="codex", model=MODEL, settings={"version": "1.0", "env": {"A": "b"}, "args": ["--more"]})
        == agent
    )


def test_missing_program_names_the_install_command() -> None:
    with pytest.raises(PlanError) as told:
        define(harness="codex", model=MODEL)
    assert told.value.next == "worksample agent install codex"
    put("codex", "1.0")
    agent = define(harness="codex", model=MODEL)
    check_agent(agent, an_instance("task", "one"))
    other = agent.replaced(settings={**agent.settings, "program": "f" * 64})
    with pytest.raises(PlanError, match="with different files than in the agent's record"):
        check_agent(other, an_instance("task", "one"))
    with pytest.raises(PlanError, match="needs a model"):
        define(harness="codex")
    with pytest.raises(PlanError, match="argvv"):
        define(harness="codex", model=MODEL, settings={"argvv": []})


def test_half_installed_program_is_not_installed() -> None:
    (agents_folder() / ".codex.new" / TREE).mkdir(parents=True)
    (agents_folder() / "codex-1.0-abc" / TREE).mkdir(parents=True)
    assert list_installed() == () and find_installed("codex") is None


def test_record_of_a_later_release_is_read_as_far_as_known() -> None:
    about = agents_folder() / f"codex-1.0-{'d' * 16}" / ABOUT
    put("codex", "1.0")
    about.write_text(json.dumps({**json.loads(about.read_text()), "more": 1}))
    assert find_installed("codex") == list_installed()[0]


def test_digest_covers_the_program_and_not_its_folder(tmp_path: Path) -> None:
    def tree(name: str) -> Path:
        folder = tmp_path / name
        (folder / "lib").mkdir(parents=True)
        (folder / "lib/run.js").write_text("1")
        (folder / "lib/link").symlink_to("run.js")
        return folder

    first = digest_of_tree(tree("a"))
    other = tree("b")
    (other / "bin").mkdir()
    (other / "bin/start").write_text(f"#!{other}/bin/python")
    (other / "lib/__pycache__").mkdir()
    (other / "lib/__pycache__/x.pyc").write_bytes(b"1")
    (other / "lib/RECORD").write_text("here")
    assert digest_of_tree(other) == first
    changed = []
    for number, change in enumerate(
        (
            lambda folder: (folder / "lib/run.js").write_text("2"),
            lambda folder: (folder / "lib/run.js").chmod(0o755),
            lambda folder: (folder / "lib/more.js").write_text(""),
            lambda folder: ((folder / "lib/link").unlink(), (folder / "lib/link").symlink_to("/etc")),
        )
    ):
        folder = tree(f"c{number}")
        change(folder)
        changed.append(digest_of_tree(folder))
    assert len({first, *changed}) == 5


def test_invalid_names_and_failed_installers_are_reported(tmp_path: Path) -> None:
    assert parse_name("codex@0.1")[1] == "0.1"
    assert parse_name("codex")[1] == find_program("codex").tried  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="no agent is called 'codx'"):
        parse_name("codx")
    with pytest.raises(InstallError, match="x could not be installed: no such version"):
        run_installer(["sh", "-c", "echo no such version >&2; exit 3"], tmp_path, "x")


def test_hostile_or_truncated_log_is_read_as_far_as_possible() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in (
            ("log/a.txt", b"one"),
            ("../escape", b"no"),
            ("/etc/x", b"no"),
            ("log/b.txt", b"two" * 1000),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("log/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert _files(buffer.getvalue()) == ({"log/a.txt": b"one", "log/b.txt": b"two" * 1000}, True)
    assert _files(buffer.getvalue()[:4000])[0] == {"log/a.txt": b"one"}
    assert _files(b"no archive at all" * 100) == ({}, False)
    assert _files(b"")[0] == {}

"""A `command` agent's own folder in the box, and programs or memory that are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.material import setting
from worksample.agents import define
from worksample.agents.agent_builder import check_agent, check_program
from worksample.agents.agent_folder_cache import keep_folder
from worksample.agents.missing_programs import only_on_host, script_of
from worksample.errors import Cause, PlanError
from worksample.records import Ending, Instance, Limits, Trial

pytestmark = pytest.mark.box


def own(folder: Path, text: str) -> Path:
    """A folder with a program `agent.py` of this text."""
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(text, encoding="utf-8")
    return folder


async def test_command_agent_runs_the_program_of_its_folder(tmp_path: Path) -> None:
    program = own(tmp_path / "mine", "import sys, greeting; open(sys.argv[1] + '/x', 'w').write(greeting.TEXT)\n")
    (program / "greeting.py").write_text("TEXT = 'from a module beside it'\n", encoding="utf-8")
    agent = define(
        "mine", harness="command", folder=program, settings={"argv": ["python3", "{agent}/agent.py", "{output}"]}
    )
    at = setting(tmp_path / "run", agent=agent)
    (program / "agent.py").write_text("raise SystemExit('changed since the plan')", encoding="utf-8")
    (trial,) = await at.run(tries=1)
    assert trial.outcome.ending is Ending.DONE, trial.outcome
    assert at.output(trial) == {"x": b"from a module beside it"}


async def test_command_agent_brings_single_files(tmp_path: Path) -> None:
    program = own(tmp_path / "mine", "import sys, greeting; open(sys.argv[1] + '/x', 'w').write(greeting.TEXT)\n")
    (program / "greeting.py").write_text("TEXT = 'from the second file'\n", encoding="utf-8")
    settings = {"argv": ["python3", "{agent}/agent.py", "{output}"]}
    files = [program / "agent.py", program / "greeting.py"]
    agent = define("mine", harness="command", files=files, settings=settings)
    at = setting(tmp_path / "run", agent=agent)
    (trial,) = await at.run(tries=1)
    assert at.output(trial) == {"x": b"from the second file"}
    with pytest.raises(PlanError, match="does not exist"):
        define("mine", harness="command", files=[tmp_path / "none.py"], settings=settings)
    with pytest.raises(PlanError, match="two of the agent's files"):
        define("mine", harness="command", files=[files[0], files[0]], settings=settings)
    with pytest.raises(PlanError, match="takes no files"):
        define(harness="worker", model="a/b", files=files)


async def test_memory_of_the_agents_own_program_is_added_to_the_tasks(tmp_path: Path) -> None:
    take = "import sys; held = b'x' * (400 << 20); open(sys.argv[1] + '/x', 'w').write('enough')"
    argv = ["python3", "-c", take, "{output}"]
    small = Limits(time=60, memory=256 << 20, disk=64 << 20)
    poor = define("poor", harness="command", settings={"argv": argv})
    rich = define("rich", harness="command", settings={"argv": argv, "memory": 512 << 20})
    at = setting(tmp_path, agent=poor, more=[rich], limits=small)
    ended = {trial.agent.partition("@")[0]: trial for trial in await at.run(tries=1)}
    assert ended["rich"].outcome.ending is Ending.DONE, ended["rich"].outcome
    assert at.output(ended["rich"]) == {"x": b"enough"}
    assert ended["poor"].outcome.cause is Cause.LIMIT_MEMORY
    assert "0.25 GiB of memory were used up" in ended["poor"].outcome.reason


async def test_own_folder_is_read_only_in_the_box(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo mine > {agent}/agent.py || echo x > {agent}/new || echo kept > {output}/x"]
    agent = define("mine", harness="command", folder=own(tmp_path / "mine", "1"), settings={"argv": argv})
    at = setting(tmp_path / "run", agent=agent)
    (trial,) = await at.run(tries=1)
    assert at.output(trial) == {"x": b"kept\n"}


def test_other_files_in_the_own_folder_make_another_agent(tmp_path: Path) -> None:
    def agent_of(text: str, place: str) -> str:
        folder = own(tmp_path / place / "mine", text)
        return define("mine", harness="command", folder=folder, settings={"argv": ["python3", "{agent}/agent.py"]}).id

    assert agent_of("1", "a") == agent_of("1", "b") != agent_of("2", "c")


def test_missing_folder_is_reported_before_the_run(tmp_path: Path) -> None:
    at = setting(tmp_path)
    settings = {"argv": ["true"], "folder": "mine", "folder_digest": "0" * 64}
    agent = define("mine", harness="command", settings=settings)
    with pytest.raises(PlanError, match=r"the agent's folder 'mine' .* is not on this machine"):
        check_agent(agent, at.store.get(Instance, at.slots[0].instance))


@pytest.mark.parametrize("given", ["nothing", "other harness"])
def test_unreadable_folder_is_refused(tmp_path: Path, given: str) -> None:
    if given == "nothing":
        with pytest.raises(PlanError, match="file or folder does not exist"):
            keep_folder(tmp_path / "absent")
    else:
        with pytest.raises(PlanError, match="harness worker takes no files of its own"):
            define("w", harness="worker", model="mockllm/model", folder=tmp_path)


async def failed(folder: Path, *argv: str, limits: Limits | None = None) -> Trial:
    """A trial of a program without a folder."""
    at = setting(folder, agent=define("program", harness="command", settings={"argv": argv}), limits=limits)
    (trial,) = await at.run(tries=1)
    return trial


async def test_script_missing_in_the_box_is_no_crash_of_the_agent(tmp_path: Path) -> None:
    trial = await failed(tmp_path, "python3", "/srv/nowhere/agent.py", "{brief}")
    assert trial.outcome.cause is Cause.AGENT_ABSENT
    assert "no script '/srv/nowhere/agent.py'" in trial.outcome.reason


def test_script_outside_the_box_is_refused_with_advice(tmp_path: Path) -> None:
    script = own(tmp_path / "mine", "1") / "agent.py"
    agent = define("mine", harness="command", settings={"argv": ["python3", str(script), "{brief}"]})
    with pytest.raises(PlanError, match="is outside the folders that the sandbox shows") as caught:
        check_program(agent, "/usr/bin:/bin")
    assert f'folder = "{script.parent}"' in caught.value.next and "{agent}/agent.py" in caught.value.next
    check_program(agent, "/usr/bin:/bin", images=True)


@pytest.mark.parametrize(
    ("argv", "script"),
    [
        (["python3", "agent.py"], "agent.py"), (["python3.12", "/a/b"], "/a/b"), (["node", "x.mjs"], "x.mjs"),
        (["/usr/bin/python3", "x.py"], "x.py"), (["python3", "-m", "x"], ""), (["sh", "-c", "x.sh"], ""),
        (["python3"], ""), (["python3", "word"], ""), (["my-agent", "x.py"], ""), (["python3", "-W", "x.py"], ""),
        (["python3", "-u", "x.py"], "x.py"), (["bash", "-eux", "x.sh"], "x.sh"),
        (["env", "A=1", "python3", "x.py"], "x.py"),
        (["nice", "-n", "5", "python3", "x.py"], "x.py"), (["perl", "-e", "x.pl"], ""), (["env"], ""),
    ],
)  # fmt: skip
def test_interpreters_script_is_found_only_if_plain(argv: list[str], script: str) -> None:
    assert script_of(argv) == script


@pytest.mark.parametrize(
    "argv",
    [
        ["env", "A=1", "python3", "SCRIPT"],
        ["python3", "-u", "SCRIPT"],
        ["nice", "-n", "5", "SCRIPT"],
        ["timeout", "9m", "sh", "SCRIPT"],
        ["sh", "-c", "python3 SCRIPT {brief}"],
        ["sh", "-c", "cd {output} && A=1 exec python3 -u SCRIPT > log"],
        ["bash", "-lc", "true\nSCRIPT"],
        ["env", "sh", "-c", "(python3 SCRIPT)"],
    ],
)
def test_script_behind_a_wrapper_is_found(tmp_path: Path, argv: list[str]) -> None:
    script = str(own(tmp_path / "mine", "1") / "agent.py")
    assert only_on_host([word.replace("SCRIPT", script) for word in argv]) == script


def test_script_created_by_the_command_is_accepted(tmp_path: Path) -> None:
    script = own(tmp_path / "mine", "1") / "agent.py"
    for code in (f"echo 1 > {script}; python3 {script}", f"cat {script}", "python3 agent.py", "'unfinished"):
        assert only_on_host(["sh", "-c", code]) == ""


def test_files_visible_in_boxes_are_accepted() -> None:
    for argv in (
        ["/usr/bin/env"],
        ["python3", "/usr/lib/python3/x.py"],
        ["python3", "{agent}/a.py"],
        ["sh", "-c", "x"],
    ):
        assert only_on_host(argv) == ""


HUNGRY = "b = []\nwhile True: b.append(bytearray(b'x' * (8 << 20)))"


@pytest.mark.parametrize("wrapped", [False, True])
async def test_program_killed_for_memory_reached_its_limit(tmp_path: Path, wrapped: bool) -> None:
    """Also if a parent process survives it and exits with 1, as programs do that start themselves again."""
    argv = ["python3", "-c", HUNGRY]
    if wrapped:
        argv = ["sh", "-c", 'python3 -c "$0" || exit 1', HUNGRY]
    trial = await failed(tmp_path, *argv, limits=Limits(memory=256 << 20))
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.LIMIT, Cause.LIMIT_MEMORY)
    assert "0.25 GiB of memory were used up" in trial.outcome.reason


async def test_tool_reports_exhausted_memory(tmp_path: Path) -> None:
    steps = [{"run": f'python3 -c "{HUNGRY}"'}, {"python": HUNGRY}, {"run": "echo on > {output}/x"}]
    at = setting(tmp_path, steps, limits=Limits(memory=384 << 20))
    (trial,) = await at.run(tries=1)
    assert trial.outcome.ending is Ending.DONE
    said = at.store.manifest(at.closed[0][1].parts["trajectory"].manifest).find("trajectory.json")  # type: ignore[union-attr]
    text = at.store.blobs.read(said.blob).decode()  # type: ignore[union-attr,arg-type]
    assert text.count("0.375 GiB of memory were used up") == 2

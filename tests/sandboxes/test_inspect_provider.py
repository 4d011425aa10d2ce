"""The provider passes Inspect's conformance suite and runs samples of a plain Inspect task."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, basic_agent, solver
from inspect_ai.tool import bash, bash_session, python, text_editor
from inspect_ai.util import SandboxEnvironment, SandboxEnvironmentSpec, SandboxUserUnsupportedError, sandbox
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from worksample.box import BoxConfig, BoxLimits, Mount
from worksample.errors import SandboxError
from worksample.sandboxes.provider import BoxSpec, WorksampleSandbox, box_of, read_spec

pytestmark = pytest.mark.box

UNABLE = {"test_exec_as_user": "a box has one user and makes no others; commands as root do not exist in it"}


@pytest.fixture
async def sandbox_env(request: pytest.FixtureRequest) -> AsyncIterator[SandboxEnvironment]:
    environments = await WorksampleSandbox.sample_init("conformance", None, {})
    reason = UNABLE.get(request.node.originalname)
    if reason:
        request.node.add_marker(pytest.mark.xfail(reason=reason, raises=SandboxUserUnsupportedError, strict=True))
    yield environments["default"]
    await WorksampleSandbox.sample_cleanup("conformance", None, environments, False)


def test_spec_is_hashable_and_survives_the_log() -> None:
    box = BoxConfig(mounts=(Mount("/srv/in", "/task/input"),), env=(("A", "b"),), limits=BoxLimits(time=3.5))
    spec = SandboxEnvironmentSpec("worksample", BoxSpec(box=box))
    assert len({spec, SandboxEnvironmentSpec("worksample", BoxSpec(box=box))}) == 1
    again = SandboxEnvironmentSpec.model_validate(json.loads(spec.model_dump_json()))
    assert again == spec and again.config.box == box


def test_spec_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "box.toml").write_text('[box]\npython = "none"\n[box.limits]\nmemory = 1000\n')
    assert read_spec(str(tmp_path / "box.toml")).box == BoxConfig(python="none", limits=BoxLimits(memory=1000))
    (tmp_path / "box.yaml").write_text("box: {colour: red}")
    with pytest.raises(SandboxError, match=r"colour(.|\n)*next: correct the file"):
        read_spec(str(tmp_path / "box.yaml"))


@solver
def write_a_note() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        done = await sandbox().exec(["sh", "-c", "id -un; cat /task/input/brief.md > /task/output/note.txt"])
        state.metadata["user"] = done.stdout.strip()
        box = box_of(sandbox())
        await box.freeze()
        state.metadata["note"] = (box.output_path / "note.txt").read_text()
        await box.thaw()
        return state

    return solve


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.long
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Inspect's own use of its libraries
def test_inspects_tools_work_in_a_box(tmp_path: Path) -> None:
    """Also those for which Inspect puts a server of its own into the sandbox."""
    calls: list[tuple[str, dict[str, object]]] = [
        ("bash", {"command": "pwd"}),
        ("python", {"code": "import numpy; print(numpy.arange(3).sum())"}),
        ("text_editor", {"command": "create", "path": "/task/output/x.txt", "file_text": "hello"}),
        ("bash_session", {"action": "type_submit", "input": "cat /task/output/x.txt"}),
        ("submit", {"answer": "done"}),
    ]
    outputs = [ModelOutput.for_tool_call("mockllm", name, arguments) for name, arguments in calls]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=outputs)
    agent = basic_agent(tools=[bash(), python(), text_editor(), bash_session()])
    (tmp_path / "box.toml").write_text('[box]\nlabel = "tools"\n')
    task = Task(dataset=[Sample(input="go")], solver=agent, sandbox=("worksample", str(tmp_path / "box.toml")))
    [log] = eval(task, model=model, display="none", log_dir=str(tmp_path / "logs"))
    gc.collect()
    assert log.status == "success" and log.samples is not None, log.error
    said = [message.text for message in log.samples[0].messages if message.role == "tool"]
    assert said[0].strip() == "/task/scratch" and said[1].strip() == "3"
    assert "created" in said[2] and "hello" in said[3]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_samples_of_an_inspect_task_run_in_boxes(tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text("Write a note.")
    spec = BoxSpec(box=BoxConfig(mounts=(Mount(str(tmp_path), "/task/input"),)))
    samples = [Sample(input="go", id=n, sandbox=SandboxEnvironmentSpec("worksample", spec)) for n in range(3)]
    task = Task(dataset=samples, solver=write_a_note())
    [log] = eval(task, model=None, display="none", log_dir=str(tmp_path / "logs"))
    gc.collect()  # Inspect leaves streams open, which are found here and not in another test
    assert log.status == "success" and log.samples is not None
    assert [(one.metadata["user"], one.metadata["note"]) for one in log.samples] == [("agent", "Write a note.")] * 3

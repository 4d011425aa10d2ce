"""Scripted agents: reading, refusals, identity and presets."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.desk_material import instance_at
from worksample.agents import PRESETS, Script, define, read_script
from worksample.agents.agent_builder import check_agent
from worksample.agents.agent_definition import validate_settings
from worksample.agents.agent_script import ScriptStep, fill_placeholders
from worksample.agents.scripted_agent import Player
from worksample.agents.workspace import clip_middle
from worksample.errors import ManifestError, PlanError
from worksample.sandboxes.browser import ACTIONS as BROWSER

SCRIPT = """
[[step]]
run = "ls {input}"
timeout = 5

[[step]]
write = "{output}/logo.png"
from = "logo.png"
also = true

[[instance.two.step]]
submit = "nothing to do"
usage = { input = 7, output = 3 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "greeting.toml").write_text(SCRIPT)
    return tmp_path


def test_script_survives_its_record(folder: Path) -> None:
    script = read_script(folder)
    agent = define("replayer", harness="scripted", script=folder)
    assert Script.model_validate(agent.settings["script"]) == script
    assert agent.model == "script/replay"
    assert script.tasks["greeting"].steps[1].data == "iVBOR/8="


def test_content_decides_the_identity_and_the_path_does_not(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for path in folder.iterdir():
        (elsewhere / path.name).write_bytes(path.read_bytes())
    agent, same = (define("replayer", harness="scripted", script=f) for f in (folder, elsewhere))
    assert agent == same
    (elsewhere / "logo.png").write_bytes(b"\x89PNG\xfe")
    assert define("replayer", harness="scripted", script=elsewhere).id != agent.id


def test_instance_script_overrides_task_and_default(folder: Path, tmp_path: Path) -> None:
    script = read_script(folder)
    one = instance_at(tmp_path / "w")
    two, other = one.replaced(name="two"), one.replaced(task="other")
    assert [s.action for s in script.steps(one)] == ["run", "write"]
    assert [s.action for s in script.steps(two)] == ["submit"]
    with pytest.raises(PlanError, match="no script for other/one"):
        script.steps(other)
    (folder / "_default.toml").write_text('[[step]]\nsay = "I would rather not"\n')
    assert [s.action for s in read_script(folder).steps(other)] == ["say"]
    with pytest.raises(PlanError, match="no script"):
        check_agent(define("r", harness="scripted", settings={"script": script.plain()}), other)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[step]]\nrun = "a"\nsay = "b"', r"step\[0\].*exactly one"),
        ("[[step]]\n", r"step\[0\].*this one has none"),
        ('[[step]]\nrun = "a"\n[[step]]\nrnu = "a"', r"step\[1\].rnu"),
        ('[[step]]\nwrite = "a"', "exactly one of text and from"),
        ('[[step]]\nwrite = "a"\nfrom = "absent"', r"step\[0\].from: cannot be read"),
        ('[[step]]\nwrite = "a"\ndata = "AA=="', "give a file with from"),
        ('[[step]]\nsubmit = false', "submit must be true or a text"),
        ('[[step]]\nsay = "x"\ntimeout = 3', "timeout may be given only with run or python"),
        ('[[step]]\nfail = "somehow"', r"step\[0\].fail"),
        ('[step]\nrun = "a"', r"write \[\[step\]\]"),
        ('steps = []', "unknown key steps"),
        ('[instance.a]\nrun = "x"', r"\[\[instance.a.step\]\]"),
        ('[[step]', "not readable as TOML"),
    ],
)  # fmt: skip
def test_invalid_script_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "greeting.toml").write_text(text)
    with pytest.raises(ManifestError, match=says) as caught:
        read_script(tmp_path)
    assert "greeting.toml" in caught.value.where and caught.value.next


def test_only_known_placeholders_are_replaced() -> None:
    words = {"input": "/in", "output": "/out"}
    text = "cat {input}/a > {output}/b; f'{x} {{}} {inputs}'"
    assert fill_placeholders(text, words, raw=False) == "cat /in/a > /out/b; f'{x} {{}} {inputs}'"
    assert fill_placeholders(text, words, raw=True) == text


@given(st.text(max_size=400), st.integers(20, 200))
def test_clipping_keeps_head_and_tail(text: str, size: int) -> None:
    out = clip_middle(text, size)
    if len(text) <= size:
        assert out == text
    else:
        head = size * 2 // 3
        assert out.startswith(text[:head])
        assert out.endswith(text[len(text) - (size - head) :])
        assert f"[... {len(text) - size} characters left out ...]" in out


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_match_the_papers(name: str) -> None:
    agent = define(preset=name, model="openai/some")
    limits = {k: v for k, v in agent.settings["limits"].items() if v is not None}
    cost, hour, day = {"cost": 30}, {"time": 3600}, {"time": 18000}
    assert limits == {
        "rli": {**hour, **cost}, "rli-cli": {**hour, **cost}, "rli-cua": {**hour, **cost}, "ale": day, "ale-cli": day,
        "tac": {"turns": 100, "cost": 4}, "upbench": {},
    }[name]  # fmt: skip
    assert agent.harness == ("plan-act-reflect" if name == "upbench" else "worker")


def test_given_settings_override_the_preset() -> None:
    agent = define(preset="rli", model="openai/some", settings={"limits": {"cost": 1.5}, "self_check": "none"})
    assert agent.settings["limits"]["cost"] == 1.5
    assert agent.settings["limits"]["time"] == 3600
    assert agent.settings["self_check"] == "none"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"harness": "wroker"}, "no harness is called 'wroker'"),
        ({"preset": "rly"}, "no preset is called 'rly'"),
        ({"harness": "worker"}, "needs a model"),
        ({"harness": "scripted"}, "needs its scripts"),
        ({"harness": "scripted", "model": "openai/x"}, "starts with script/"),
        ({"harness": "command"}, "argv"),
        ({"harness": "worker", "model": "m", "settings": {"toolz": []}}, "toolz: is not a key.*did you mean 'tools'"),
        ({"harness": "worker", "model": "m", "script": "."}, "takes no script"),
    ],
)
def test_invalid_agent_is_refused(asked: dict[str, object], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        define(**asked)  # type: ignore[arg-type]


def test_written_settings_are_read_back_equal() -> None:
    agent = define(harness="worker", model="openai/some")
    assert validate_settings("worker", agent.settings).model_dump(mode="json") == agent.settings


_VALUES: dict[str, st.SearchStrategy[object]] = {
    "string": st.text("ab {}", max_size=5),
    "strings": st.lists(st.sampled_from(["two", "{word}", ""]), max_size=3),
    "integer": st.integers(0, 5),
    "number": st.floats(-1e5, 1e5) | st.integers(0, 5),
    "boolean": st.booleans(),
}


@given(st.data(), st.sampled_from(sorted(BROWSER)))
def test_scripted_browser_call_has_json_arguments(data: st.DataObject, action: str) -> None:
    about = BROWSER[action].parameters
    table = {key: data.draw(_VALUES[one.kind], label=key) for key, one in about.items() if not one.allowed}
    step = ScriptStep.model_validate({"browse": action, "args": table})
    message = anyio.run(Player([step], {"word": "filled"}).next, "script").choices[0].message
    [call] = message.tool_calls or []
    assert json.loads(json.dumps(call.arguments)) == call.arguments
    assert not BROWSER[action].wrong(call.arguments)
    expected = {key: fill_everywhere(value) for key, value in table.items()}
    assert call.arguments == expected


def fill_everywhere(value: object) -> object:
    if isinstance(value, list):
        return [fill_everywhere(one) for one in value]
    return value.replace("{word}", "filled") if isinstance(value, str) else value

"""Real programs of eight makers, installed, on a starter task with a scripted model behind the gateway."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, Fault, serving
from openai_server.workman import Workman
from worksample.agents.installing.installed_programs import digest_of_tree, find_installed
from worksample.agents.installing.installer import install
from worksample.experiments.agent_check import check_agents, find_answer
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.metrics import Configurations, harness_effect, model_effect
from worksample.models.service_config import ServiceConfig
from worksample.python_api.experiment_run import options_of
from worksample.records import Agent, Submission, Trial
from worksample.results.slot_results import slots_df
from worksample.store import Store

PROGRAMS = ("aider", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "openhands", "qwen-code")
PACKAGE = Path(__file__).parents[2] / "src/worksample/suites/starter/tasks/incident-report"
REPORT = (PACKAGE / "cases/another-hand/output/report.md").read_text(encoding="utf-8")
ABLE, BOUND = "openai-api/local/able", "openai-api/local/bound"
"""Models of different skill: `bound` knows the answer only where it can call a shell."""

# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def hand_in(text: str) -> Workman:
    """Leaves a report of this text, by whatever means a harness gives."""
    packed = base64.b64encode(text.encode()).decode()
    path = "/task/output/report.md"
    return Workman(f"echo {packed} | base64 -d > {path}", path, text)


def answer(request: dict[str, Any], count: int) -> Answer:
    """What each of the two models does."""
    knows = request["model"] == "able" or bool(request.get("tools"))
    return hand_in(REPORT if knows else "Nothing was found.\n")(request, count)


def asked(folder: Path, agents: list[tuple[str, str]], url: str, **more: Any) -> ExperimentConfig:
    """An experiment over (harness, model); programs are installed first."""
    for harness, _ in agents:
        if harness in PROGRAMS:
            install(harness)
    return ExperimentConfig(
        name="programs",
        store=str(folder / "store"),
        **{"suite": "starter", "only": ("incident-report/checkout",), "parallel": 2, "tries": 1, **more},
        agents=tuple(
            AgentConfig(name=f"{harness}-{model.rpartition('/')[2]}", harness=harness, model=model)
            for harness, model in agents
        ),
        services={"openai-api/local": ServiceConfig(base_url=url, retries=0)},
    )


def ran(store: Store, config: ExperimentConfig) -> Any:
    """The slots of the experiment, run and graded."""
    plan = prepare(config, store.blobs)
    commit_plan(store, plan)
    run_experiment(store, plan.experiment, options_of(config))
    return slots_df(store, plan.experiment.id)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the service: it must never be seen in a box."""
    monkeypatch.setenv("LOCAL_API_KEY", "sk-of-the-operator")


@pytest.mark.long(seconds=20)
@pytest.mark.parametrize("harness", PROGRAMS)
@pytest.mark.quick("codex", "gemini-cli")
def test_real_program_solves_a_starter_task(tmp_path: Path, harness: str) -> None:
    with serving(answer) as served, Store.open(tmp_path / "store", create=True) as store:
        frame = ran(store, asked(tmp_path, [(harness, ABLE)], served.base_url))
        assert frame["passed"].to_list() == [True], frame.to_dicts()
        (trial,) = store.find(Trial)
        agent = store.get(Agent, trial.agent)
        here = find_installed(harness)
        assert here is not None
        assert (agent.settings["version"], agent.settings["program"]) == (here.version, here.digest)
        log = store.get(Submission, trial.id).parts["agent_log"]
        assert log.files and log.size > 100, log
        assert trial.usage["agent"].calls == len(served.requests) > 0


@pytest.mark.long(seconds=150)
@pytest.mark.thorough(quick="experiments/test_real_programs.py::test_real_program_solves_a_starter_task")
def test_crossed_models_and_harnesses_show_both_effects(tmp_path: Path) -> None:
    harnesses = (*PROGRAMS, "worker")
    crossed = [(harness, model) for harness in harnesses for model in (ABLE, BOUND)]
    with serving(answer) as served, Store.open(tmp_path / "store", create=True) as store:
        frame = ran(store, asked(tmp_path, crossed, served.base_url))
    assert frame["passed"].null_count() == 0, frame.filter(frame["passed"].is_null()).to_dicts()
    found = Configurations(frame["harness"], frame["model"], frame["task"], frame["passed"].cast(float))
    spreads = {harness: model_effect(found, harness).spread.value for harness in harnesses}
    assert spreads == {harness: 1.0 if harness == "aider" else 0.0 for harness in harnesses}
    assert harness_effect(found, ABLE).spread.value == 0.0
    assert harness_effect(found, BOUND).spread.value == 1.0


@pytest.mark.thorough(quick="runs/test_programs_and_gateway.py::test_failing_service_is_not_the_agents_fault")
@pytest.mark.long(seconds=40)
def test_failing_service_leaves_all_trials_ungraded(tmp_path: Path) -> None:
    crossed = [(harness, ABLE) for harness in ("codex", "claude-code", "gemini-cli", "worker")]
    with serving([Answer(fault=Fault.LIMIT)]) as served, Store.open(tmp_path / "store", create=True) as store:
        frame = ran(store, asked(tmp_path, crossed, served.base_url))
        assert {str(one.outcome.cause) for one in store.find(Trial)} == {"model.error"}
    assert frame["passed"].to_list() == [None] * 4
    assert frame["score"].to_list() == [None] * 4


HOSTILE = """
program=/opt/worksample/agent
file=$(find $program -type f -name codex | head -1)
echo mine > $file; unlink $file; mv $program /opt/worksample/gone; ln -sf /bin/true $file; chmod u+w $file
(env; cat /proc/[0-9]*/environ /root/.* /root/.*/* $HOME/.*/*; ls -R /home /root) > /task/output/report.md 2>/dev/null
sleep 1000
"""


@pytest.mark.long(seconds=20)
@pytest.mark.thorough(quick="experiments/test_real_programs.py::test_real_program_solves_a_starter_task")
def test_program_that_wrecks_its_box_and_never_ends_is_ended(tmp_path: Path) -> None:
    """Its files stay what they were, no key is to be found, and the limit ends it: what it left is graded."""
    model: Callable[[dict[str, Any], int], Answer] = Workman(HOSTILE, "report.md", "", forever=True)
    with serving(model) as served, Store.open(tmp_path / "store", create=True) as store:
        frame = ran(store, asked(tmp_path, [("codex", ABLE)], served.base_url, limits={"time": 12}))
        (trial,) = store.find(Trial)
        assert (str(trial.outcome.ending), str(trial.outcome.cause)) == ("limit", "limit.time")
        output = store.manifest(store.get(Submission, trial.id).parts["output"].manifest).find("report.md")
        assert output is not None and output.blob is not None
        seen = store.blobs.read(output.blob)
        assert b"OPENAI_API_KEY=none-is-needed" in seen
        assert b"sk-of-the-operator" not in seen
        assert store.get(Submission, trial.id).parts["agent_log"].files
    assert frame["passed"].to_list() == [False]
    here = find_installed("codex")
    assert here is not None and digest_of_tree(Path(here.folder)) == here.digest


@pytest.mark.long(seconds=20)
@pytest.mark.thorough(quick="experiments/test_real_programs.py::test_real_program_solves_a_starter_task")
def test_agent_check_passes_only_agents_with_a_working_model(tmp_path: Path) -> None:
    """mini-SWE-agent ends by a command alone and prints nothing of its model's answers: its log has them."""
    names = ("claude-code", "mini-swe-agent")
    nowhere = asked(tmp_path, [(name, ABLE) for name in names], "http://127.0.0.1:9/v1")
    found = check_agents(names, None, nowhere)
    assert [(one.fault, one.calls) for one in found] == [("", 2)] * 2, found
    assert all("left" in one.said and "-right" in one.said for one in found)
    (broken,) = check_agents(["claude-code"], ABLE, nowhere)
    assert not broken.sound and "onnect" in broken.fault
    with serving([Answer("I am happy to help with anything else.")]) as served:
        (deaf,) = check_agents(["claude-code"], ABLE, asked(tmp_path, [("claude-code", ABLE)], served.base_url))
    assert "no tool call is proven" in deaf.fault and "happy to help" in deaf.fault


def test_only_the_joined_answer_counts_in_an_agent_check() -> None:
    answer = "left1-right2"
    assert find_answer(answer, "Join left1 and right2.\n > left1-right2 <\n", "") == "> left1-right2 <"
    assert find_answer(answer, "Exit: Submitted", '{"content": "left1-right2"}') == "left1-right2 (in its log)"
    assert find_answer(answer, "the words left1 and right2, joined by a hyphen", "left1 right2") == ""

"""Models are tried before they are paid for: by `model check`, and by `run` before it creates a store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import TINY, cli, here
from openai_server import Answer, Call, calls, faults, says, serving
from worksample.agents import define
from worksample.errors import PlanError
from worksample.experiments.config_file import load
from worksample.experiments.model_check import prove_models
from worksample.records import Agent, Trial
from worksample.store import Store

MODEL = "openai-api/local/model-1"
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # the engine's
KEY = {"LOCAL_API_KEY": "sk-none"}
RUN = ("run", "--suite", TINY, "--agent", "worker", "--model", MODEL)


def check(*words: object, code: int, env: Mapping[str, str] = KEY) -> list[dict[str, Any]]:
    done = here("model", "check", *words, "--json", env=env)
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return list(json.loads(done.stdout))


def without_usage() -> Answer:
    body = calls("ready").body(0, "model-1")
    del body["usage"]
    return faults.reply(200, body)


@pytest.mark.parametrize(
    ("answer", "code", "says_"),
    [
        (calls("ready"), 0, "calls tools, 120 tokens"),
        (says("ready"), 0, "called no tool"),
        (without_usage(), 0, "tokens by estimate: the service reports none"),
        (faults.WRONG_KEY, 1, "HTTP 401: Incorrect API key provided: sk-abc***xyz"),
        (faults.reply(404, {"error": {"message": "The model `model-1` does not exist"}}), 1, "HTTP 404: The model"),
        (faults.HALF_JSON, 1, "a body that is not JSON"),
    ],
)
def test_one_call_names_the_fault(answer: Answer, code: int, says_: str) -> None:
    with serving([answer]) as service:
        (found,) = check("--model", MODEL, "--base-url", service.base_url, "--price", f"{MODEL}=1,2", code=code)
        assert len(service.requests) == 1
    assert says_ in (found["fault"] or found["answered"])
    assert (found["sound"], found["priced"]) == (code == 0, True)


def test_openais_own_models_use_the_responses_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serving([calls("ready")]) as service:
        config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}],
                             "services": {"*": {"base_url": service.base_url}}})  # fmt: skip
        (found,) = prove_models([agent(model="openai/gpt-5")], config)
        assert "input" in service.requests[0] and "messages" not in service.requests[0]
    assert (found.answered, found.fault) == ("calls tools, 120 tokens", "")


def test_wrong_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving([calls("ready")]) as service:
        (found,) = check("--model", MODEL, "--base-url", service.root, code=1)
        assert service.requests == []
    assert found["fault"] == "HTTP 404: no such place"
    assert service.root in found["next"] and "end in /v1" in found["next"]


@pytest.mark.box
def test_responses_run_counts_tokens_as_the_service_does(tmp_path: Path) -> None:
    look = Answer(text="I look.", calls=(Call("bash", {"command": "ls /task/input"}),), input_tokens=900)

    def choose(request: dict[str, Any], _: int) -> Answer:
        """Inspect also says hello to a reasoning model, to see whether it may ask for summaries."""
        tools = [tool["function"]["name"] for tool in request["tools"]]
        if "submit" not in tools:
            return calls("ready") if tools else says("hello, world")
        return calls("submit", summary="done") if "function_call_output" in json.dumps(request["input"]) else look

    with serving(choose) as service:
        words = ("run", "--suite", TINY, "--only", "sums", "--agent", "worker", "--model", "openai/gpt-5")
        more = ("--price", "openai/gpt-5=1,10", "--base-url", service.base_url, "--parallel", 1, "--tries", 1)
        done = cli(*words, *more, "--store", tmp_path / "s", "--json", env={"OPENAI_API_KEY": "sk-none"})
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "s") as store:
        first = min(store.find(Trial), key=lambda trial: trial.started)
    (used,) = first.usage.values()
    assert (used.calls, used.input_tokens, used.output_tokens) == (2, 1000, 40)
    assert used.cost == pytest.approx((1000 * 1 + 40 * 10) / 1e6)


def test_file_says_where_each_model_is(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    with serving([calls("ready")]) as service:
        file.write_text(
            f'suite = "starter"\n[[agents]]\nharness = "worker"\nmodel = "{MODEL}"\n'
            f'[services."openai-api/local"]\nbase_url = "{service.base_url}"\n'
        )
        (found,) = check(file, code=0)
        assert service.requests[0]["tools"][0]["function"]["name"] == "ready"
    assert found["sound"]


def test_faults_that_need_no_call_are_reported_without_one() -> None:
    (found,) = check("--model", MODEL, "--offline", code=1, env={})
    assert "LOCAL_API_KEY" in found["fault"] and not found["fault"].startswith("ERROR")
    assert found["next"].startswith("export LOCAL_API_KEY=")
    (found,) = check("--model", "nobody/x", "--offline", code=1)
    assert "nobody" in found["fault"]


def test_run_with_an_unavailable_model_leaves_no_store(tmp_path: Path) -> None:
    done = cli(*RUN, "--store", tmp_path / "s")
    assert done.returncode == 1
    assert "LOCAL_API_KEY" in done.stderr
    assert not (tmp_path / "s").exists()


def test_misspelt_generation_setting_is_found_by_a_dry_run(tmp_path: Path) -> None:
    agent = tmp_path / "agent.toml"
    agent.write_text(f'harness = "worker"\nmodel = "{MODEL}"\nsettings = {{ generation = {{ temprature = 0 }} }}\n')
    done = cli("run", "--suite", TINY, "--agent", agent, "--dry-run")
    assert done.returncode == 1
    assert "did you mean 'temperature'" in done.stderr


def test_budget_says_how_much_the_last_call_may_exceed_it() -> None:
    words = ("run", "--suite", TINY, "--agent", "worker", "--limit-cost", 2, "--dry-run")
    known = json.loads(cli(*words, "--model", "openai/gpt-4o", "--price", "openai/gpt-4o=2.5,10", "--json").stdout)
    trials = known["forecast"]["trials"]
    assert known["forecast"]["beyond_budget_at_most"] == pytest.approx(trials * (128_000 * 2.5 + 16_384 * 10) / 1e6)
    told = cli(*words, "--model", MODEL, "--price", f"{MODEL}=1,1")
    assert "one call per trial more: the call that exceeds a trial's budget is also paid" in told.stderr


@pytest.mark.parametrize(
    ("answer", "says_"),
    [(faults.WRONG_KEY, "Incorrect API key provided: sk-abc***xyz"), (faults.HALF_JSON, "a body that is not JSON")],
)
def test_run_checks_models_before_it_creates_a_store(tmp_path: Path, answer: Answer, says_: str) -> None:
    with serving([answer]) as service:
        done = cli(*RUN, "--base-url", service.base_url, "--store", tmp_path / "s", env=KEY)
        assert len(service.requests) == 1
    assert done.returncode == 1
    assert says_ in done.stderr
    assert "--no-check-models" in done.stderr
    assert not (tmp_path / "s").exists()


def agent(generation: Mapping[str, Any] | None = None, model: str = MODEL) -> Agent:
    return define(None, harness="worker", model=model, settings={"generation": dict(generation or {})})


def test_each_model_with_each_setting_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-none")
    with serving([calls("ready")]) as service:
        config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}],
                             "services": {"*": {"base_url": service.base_url}}})  # fmt: skip
        agents = [agent(), agent(), agent({"temperature": 0.5}), agent(model="mockllm/model")]
        found = prove_models(agents, config)
        asked = [request.get("temperature") for request in service.requests]
    assert sorted(asked, key=str) == [0.5, None]
    assert all(one.sound for one in found)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_service_stops_nothing(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-none")
    with serving([faults.reply(status, {"error": {"message": "try later"}})]) as service:
        config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}],
                             "services": {"*": {"base_url": service.base_url}}})  # fmt: skip
        (found,) = prove_models([agent()], config)
    assert (found.passing, found.fault) == (True, f"HTTP {status}: try later")


def test_run_does_not_begin_if_no_service_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-none")
    with serving([calls("ready")]) as gone:
        config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}],
                             "services": {"*": {"base_url": gone.base_url}}})  # fmt: skip
    with pytest.raises(PlanError, match=rf"nothing was run: {MODEL}: Connection error.*{gone.base_url}"):
        prove_models([agent()], config)


@pytest.mark.box
def test_wrong_key_stops_a_run_with_the_providers_words(tmp_path: Path) -> None:
    with serving([faults.WRONG_KEY]) as service:
        words = (*RUN, "--base-url", service.base_url, "--parallel", 1, "--store", tmp_path / "s")
        done = cli(*words, "--no-check-models", env=KEY)
        asked = len(service.requests)
        resumed = cli("resume", "--store", tmp_path / "s", env=KEY)
    assert done.returncode == 1
    assert asked > 1
    assert "Incorrect API key provided: sk-abc***xyz" in done.stderr
    assert "worksample resume" in done.stderr
    assert "Traceback" not in done.stderr
    assert resumed.returncode == 1


@pytest.mark.box
def test_finished_work_needs_no_model_check(tmp_path: Path) -> None:
    work = [calls("ready"), calls("submit", answer="done")]
    with serving(work) as service:
        words = (*RUN, "--base-url", service.base_url, "--parallel", 1, "--tries", 1, "--store", tmp_path / "s")
        assert cli(*words, env=KEY).returncode == 0
        asked = len(service.requests)
        assert cli(*words, env=KEY).returncode == 0
        assert len(service.requests) == asked

"""Settings of model services: precedence of files and flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.errors import ManifestError, PlanError
from worksample.experiments.config_file import load
from worksample.models import ModelService
from worksample.models.model_resolver import check_generation
from worksample.models.service_config import ServiceConfig, config_for, service_for
from worksample.runs import RunConfig

SERVICES = {
    "*": ServiceConfig(connections=4, answer_timeout=90, args={"a": 1}),
    "openai": ServiceConfig(base_url="http://one/v1", args={"b": 2}),
    "openai/gpt-5": ServiceConfig(base_url="http://two/v1", args={"a": 3}),
    "openai-api/local": ServiceConfig(base_url="http://localhost/v1"),
}


@pytest.mark.parametrize(
    ("model", "url", "args"),
    [
        ("openai/gpt-5", "http://two/v1", {"a": 3, "b": 2}),
        ("openai/gpt-4", "http://one/v1", {"a": 1, "b": 2}),
        ("openai-api/local/llama", "http://localhost/v1", {"a": 1}),
        ("anthropic/claude", None, {"a": 1}),
    ],
)
def test_narrower_entry_overrides_wider(model: str, url: str | None, args: dict[str, int]) -> None:
    found = config_for(model, SERVICES)
    assert (found.base_url, dict(found.args), found.connections, found.answer_timeout) == (url, args, 4, 90)


def test_run_calls_each_model_by_its_settings() -> None:
    config = RunConfig(services=SERVICES, model_args={"c": 5}, model_timeout=7)
    assert config.service("openai/gpt-5").args == {"c": 5, "a": 3, "b": 2, "base_url": "http://two/v1"}
    assert config.service("x/y").try_timeout == 90
    assert config.service(None).timeout == 7
    assert service_for("x/y", {}, {}, ModelService()) == ModelService()


def test_client_retries_are_refused() -> None:
    with pytest.raises(ValueError, match="set `retries`"):
        ServiceConfig(args={"max_retries": 3})


FILE = """
suite = "starter"
agents = [{harness = "worker", model = "openai/gpt-5"}]
[services."*"]
retries = 2
[services.openai]
base_url = "http://file/v1"
request_timeout = "1h"
"""


def test_flags_override_every_entry_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(FILE)
    config = load(file, {"services": {"*": {"base_url": "http://flag/v1", "args": {"x": True}}}})
    found = config_for("openai/gpt-5", config.services)
    assert (found.base_url, found.retries, found.request_timeout, found.args) == (
        "http://flag/v1", 2, 3600, {"x": True},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('args = {api_key = "sk-x"}', "OPENAI_API_KEY"),
        ('args = {auth_token = "sk-x"}', "keep keys out of it"),
        ("answer_timeout = 'soon'", "30m"),
        ("base_ulr = 'x'", "did you mean 'base_url'"),
        ("connections = 0", "at least 1"),
    ],
)
def test_service_faults_name_allowed_values(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(f'suite = "starter"\nagents = [{{harness = "worker", model = "a/b"}}]\n[services.a]\n{text}\n')
    with pytest.raises(ManifestError) as caught:
        load(file)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("generation", "says"),
    [
        ({"temprature": 0}, "did you mean 'temperature'"),
        ({"temperature": "warm"}, "temperature: 'warm' has the wrong type"),
        ({"max_tokens": [1]}, "max_tokens"),
    ],
)
def test_generation_settings_are_checked_before_a_run(generation: dict[str, object], says: str) -> None:
    with pytest.raises(PlanError) as caught:
        check_generation(generation, where="agent ann")
    assert says in str(caught.value)
    assert "validation error" not in str(caught.value)
    check_generation({"temperature": 0.5, "max_tokens": 100, "reasoning_effort": "high"}, where="agent ann")

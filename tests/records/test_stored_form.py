"""Every kind of record survives its stored form."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from pydantic import ValidationError

from records.strategies import KINDS, records
from worksample.records import REGISTRY, Agent, Arm, Experiment, Lock, Protocol, Record, canonical, from_envelope


def test_every_kind_has_a_strategy() -> None:
    assert set(KINDS) == set(REGISTRY)


@given(records)
def test_record_is_read_back_equal(record: Record) -> None:
    stored = canonical(record.envelope())
    back = from_envelope(json.loads(stored))
    assert back == record
    assert type(back) is type(record)
    assert canonical(back.envelope()) == stored


@given(records)
def test_digest_depends_on_the_content(record: Record) -> None:
    assert record.replaced(id=record.id + "x").digest != record.digest
    assert record.replaced().digest == record.digest


@given(records)
def test_records_are_frozen_and_refuse_unknown_keys(record: Record) -> None:
    with pytest.raises(ValidationError):
        record.id = "another"
    envelope = record.envelope()
    envelope["body"]["surprise"] = 1
    with pytest.raises(ValueError, match="surprise"):
        from_envelope(envelope)


def test_unknown_kind_and_newer_schema_are_refused() -> None:
    envelope = Agent.of("a", "scripted").envelope()
    with pytest.raises(ValueError, match="unknown kind of record: 'ghost'"):
        from_envelope(envelope | {"kind": "ghost"})
    with pytest.raises(ValueError, match=f"schema {Agent.schema_version + 1}; this version reads up to"):
        from_envelope(envelope | {"schema": Agent.schema_version + 1})
    with pytest.raises(ValueError, match="schema None"):
        from_envelope({"kind": "agent", "body": {}})


def test_canonical_form_refuses_what_json_lacks() -> None:
    assert canonical({"b": 1, "a": "\u00e9"}) == b'{"a":"\\u00e9","b":1}'
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))


@given(KINDS["experiment"])
def test_times_are_stored_in_utc_and_need_a_zone(experiment: Experiment) -> None:
    east = timezone(timedelta(hours=5))
    moved = experiment.replaced(at=experiment.at.astimezone(east))
    assert moved == experiment
    assert moved.digest == experiment.digest
    with pytest.raises(ValidationError, match="zone"):
        experiment.replaced(at=datetime(2026, 1, 1))


def test_agents_id_depends_on_its_settings() -> None:
    plain, tuned = Agent.of("a", "worker", model="m"), Agent.of("a", "worker", model="m", settings={"t": 1})
    assert plain.id != tuned.id
    assert plain.id == Agent.of("a", "worker", model="m").id
    assert plain.id.startswith("a@")


def test_experiment_of_the_first_schema_has_one_protocol() -> None:
    lock = Lock(suite="s", instances=(), protocols=(Protocol.RUBRIC,), sandbox="none")
    experiment = Experiment(
        id="x", name="x", agents=(), arms=(Arm(),), repeats=1, lock=lock, author="me",
        at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    old = experiment.envelope()
    old["schema"], old["body"]["lock"]["protocol"] = 1, old["body"]["lock"].pop("protocols")[0]
    assert from_envelope(old) == experiment
    assert experiment.lock.protocol is Protocol.RUBRIC
    assert lock.replaced(protocols=("rubric", "holistic")).comparable == lock.comparable

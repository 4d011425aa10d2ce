"""A round names the kind of its evaluators; older rounds follow their protocol."""

from __future__ import annotations

import pytest

from worksample.records import EvaluatorKind, Protocol, Round, from_envelope, now

PROGRAMS = {Protocol.PROGRAM, Protocol.CHECKPOINTS}


def round_of(protocol: Protocol, **more: object) -> Round:
    return Round.model_validate({"id": "r", "protocol": protocol, "author": "a", "at": now(), **more})


@pytest.mark.parametrize("protocol", Protocol)
def test_evaluator_kind_follows_the_protocol(protocol: Protocol) -> None:
    expected = EvaluatorKind.PROGRAM if protocol in PROGRAMS else EvaluatorKind.PERSON
    assert round_of(protocol).by is expected
    assert round_of(protocol, by="judge").by is EvaluatorKind.JUDGE


@pytest.mark.parametrize("schema", [1, 2])
def test_rounds_of_older_schemas_are_read(schema: int) -> None:
    envelope = round_of(Protocol.CHECKPOINTS).envelope()
    body = {name: value for name, value in envelope["body"].items() if name != "by"}
    read = from_envelope({**envelope, "schema": schema, "body": body})
    assert isinstance(read, Round) and read.by is EvaluatorKind.PROGRAM

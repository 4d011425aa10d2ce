"""Pydantic's refusals of values outside files, in our words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from worksample.files.config_files import describe_errors, parse_size
from worksample.records import GradePayload


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"score": 1.5}, "score: 1.5 is not allowed (allowed: a number of at least 0 and of at most 1)"),
        ({"score": float("nan")}, "score: nan is not allowed"),
        ({}, "score: is missing"),
        ({"score": 1, "prts": []}, "prts: is not a key of this file; did you mean 'parts'?"),
        ({"score": 1, "parts": [{"name": 3}]}, "parts[0].name: 3 has the wrong type (allowed: a text)"),
    ],
)
def test_missing_grade_is_described(value: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        GradePayload.model_validate(value)
    told = describe_errors(refused.value, GradePayload)
    assert said in told
    assert "validation error" not in told and "input_value" not in told and "pydantic" not in told


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GiB", 2 << 30), ("1.5 kB", 1_500), (f"{2**63 - 1} B", 2**63 - 1),
        (f"{2**63 + 2**20} B", None), ("9" * 30 + " TiB", None), ("9" * 400 + "B", None), ("0 B", None), ("-1 B", None),
        ("2 GB or so", None), ("inf GB", None), ("1e9 B", None),
    ],
)  # fmt: skip
def test_size_is_an_integer_of_64_bits(text: str, size: int | None) -> None:
    assert parse_size(text) == size

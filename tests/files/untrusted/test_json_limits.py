"""Untrusted JSON: too large or invalid input is refused before anything is built from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import ForeignInputError
from worksample.files.untrusted import JsonLimits, count_values, read_json

SMALL = JsonLimits(size=10_000, values=50, depth=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=60,
)


def size_of(value: Any) -> tuple[int, int]:
    """Values and levels, counted on what was built."""
    if not isinstance(value, (list, dict)):
        return 1, 0
    inner = [size_of(one) for one in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(count for count, _ in inner), 1 + max((depth for _, depth in inner), default=0)


@given(VALUES, st.booleans())
def test_values_and_levels_are_counted(value: Any, plain: bool) -> None:
    data = json.dumps(value, ensure_ascii=plain).encode()
    values, depth = size_of(value)
    assert values <= count_values(data)
    assert read_json(data, JsonLimits(values=count_values(data), depth=max(depth, 1))) == value
    if depth > 1:
        with pytest.raises(ForeignInputError, match="levels deep"):
            read_json(data, JsonLimits(depth=depth - 1))
    if values > 40:
        with pytest.raises(ForeignInputError, match="more than 10 values"):
            read_json(data, JsonLimits(values=10))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[" * 9, "8 levels"),
        (b'{"a":' * 9, "8 levels"),
        (b"[" + b"{}," * 60 + b"{}]", "50 values"),
        (b"[" + b'"[{,", ' * 60 + b"1]", "50 values"),
        (b" " * 10_001, "10001 bytes"),
        (b"[NaN]", "NaN is not a JSON number"),
        (b"[-Infinity]", "is not a JSON number"),
        (b"[" + b"1" * 5000 + b"]", "not JSON"),
        ('{"a": 1}'.encode("utf-16"), "not JSON"),
        (b'["\xed\xa0\x80"]', "not JSON"),
        (b'"open', "not JSON"),
        (b'"\\', "not JSON"),
        (b"", "not JSON"),
        (b"[}", "not JSON"),
    ],
)
def test_refusal_gives_the_reason(data: bytes, said: str) -> None:
    with pytest.raises(ForeignInputError, match=said):
        read_json(data, SMALL)


def test_marks_inside_strings_do_not_count() -> None:
    text = '[{,\\"' * 100
    assert read_json(json.dumps([text]).encode(), SMALL) == [text]
    assert read_json(b'\xef\xbb\xbf{"a": 1, "a": 2}', SMALL) == {"a": 2}

"""Values that no manifest should hold, and TOML with them: what people and programs get wrong, and what they plant."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

HUGE_HEX = "0x" + "f" * 5_000
"""Python reads it; written in decimal it has more than 4,300 digits, which Python refuses to print."""

raw_values: st.SearchStrategy[str] = st.sampled_from(
    [
        "9" * 5_000,
        "-" + "9" * 5_000,
        HUGE_HEX,
        "9223372036854775808",
        "1e999",
        "-inf",
        "nan",
        "1e308",
        "-0.0",
        "true",
        "1979-05-27",
        "1979-05-27T07:32:00Z",
        "07:32:00",
        "[]",
        "{}",
        "[[1, [2, [3]]]]",
        "[" * 300 + "]" * 300,
        "{a = " * 90 + "1" + "}" * 90,
        '""',
        '"   "',
        '"\\u001b[31mred\\u001b[0m"',
        '"a\\nb"',
        '"\\u202Etxt.exe"',
        '"' + "9" * 400 + 'TB"',
        '"1e99GiB"',
        '"' + "x" * 10_000 + '"',
        '"../../etc/passwd"',
        '"\\u0000"',
        '["\\u001b]0;title\\u0007"]',
        '{ "\\u001b[2J" = 1 }',
        "{ low = inf, high = nan }",
    ]
)
"""Right sides of a TOML key, as they are written."""

plain_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(max_size=30)
    | st.dates()
    | st.sampled_from(["\x1b[31m", "\u202e", "\x00", "2GiB", "program", "one"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> str:
    """A value in TOML; None is an empty table."""
    if value is None:
        return "{}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{written(str(k))} = {written(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(written(v) for v in value) + "]"
    return str(value)


def tame(text: str) -> bool:
    """Whether a terminal shows a text and obeys nothing in it."""
    return all(c.isprintable() or c == "\n" for c in text)

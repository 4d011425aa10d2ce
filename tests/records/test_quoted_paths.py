"""File names are bytes: quoting keeps every byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from worksample.records import Entry, Manifest, path_fault, quote_path, unquote_path


@given(st.binary(max_size=60))
def test_quoting_is_undone_by_unquoting(path: bytes) -> None:
    text = quote_path(path)
    assert unquote_path(text) == path
    assert text.isprintable()


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_different_names_stay_different(a: bytes, b: bytes) -> None:
    assert (quote_path(a) == quote_path(b)) == (a == b)


def test_readable_names_stay_readable() -> None:
    assert quote_path("Bericht März (1).pdf".encode()) == "Bericht März (1).pdf"
    assert quote_path(b"100%\n\xff") == "100%25%0A%FF"


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a%00b", "%2E%2E/x", "%2Fx"]
)
def test_invalid_paths_are_refused(path: str) -> None:
    assert path_fault(path) is not None
    with pytest.raises(ValidationError):
        Entry(path=path)


@given(st.lists(st.from_regex(rb"[^/\0]{1,8}", fullmatch=True).filter(lambda s: s not in (b".", b"..")), min_size=1))
def test_valid_paths_are_accepted(steps: list[bytes]) -> None:
    assert path_fault(quote_path(b"/".join(steps))) is None


def test_manifest_is_sorted_and_has_unique_paths() -> None:
    a, b = Entry(path="a", size=2, blob="0" * 64), Entry(path="b", size=3, blob="1" * 64)
    left = Entry(path="c", size=1 << 60, note="larger than what is taken in")
    assert Manifest(entries=(a, b, left)).size == 5
    for entries in ((b, a), (a, a)):
        with pytest.raises(ValidationError, match="sorted"):
            Manifest(entries=entries)

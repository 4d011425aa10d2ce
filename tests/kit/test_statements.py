"""What somebody has stated in the end, in whatever words, and that whoever states everything has stated nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from worksample.kit.statements import enumerates, figures, find_statement, plain, without_questions

START = datetime(2026, 3, 16, 8, tzinfo=UTC)


@dataclass(frozen=True)
class Note:
    at: datetime
    by: str
    text: str


def notes(*texts: str, by: str = "jules") -> list[Note]:
    return [Note(START + timedelta(minutes=number), by, text) for number, text in enumerate(texts)]


def says_four(text: str) -> bool:
    return 4.0 in figures(text)


@pytest.mark.parametrize(
    "text",
    [
        "4 are invited",
        "**4** are invited.",
        "Invited: four",
        "| invited | 4 |",
        "Four people. Is that right?",
        "_4_ of 12",
        "4.0",
    ],
)
def test_statement_counts_in_any_words(text: str) -> None:
    assert find_statement(notes(text), "jules", says_four, about=figures) == START


def test_last_statement_decides() -> None:
    assert find_statement(notes("5 are invited", "Sorry: 4 are invited"), "jules", says_four) == START + timedelta(
        minutes=1
    )
    assert find_statement(notes("4 are invited", "Sorry: 5 are invited"), "jules", says_four) is None
    assert find_statement(notes("4 are invited", "I go for lunch now"), "jules", says_four) == START


def test_row_of_guesses_states_nothing() -> None:
    assert (
        find_statement(notes(*(f"{number} are invited" for number in (*range(3, 20), 4))), "jules", says_four) is None
    )
    assert find_statement(notes(*["4 are invited"] * 9), "jules", says_four) is not None


def test_enumeration_states_nothing() -> None:
    assert find_statement(notes(" ".join(map(str, range(60)))), "jules", says_four) is None
    assert enumerates("x" * 7_000)
    assert not enumerates("of 12 are 4 invited")


def test_question_and_other_people_state_nothing() -> None:
    assert find_statement(notes("Are 4 invited?"), "jules", says_four) is None
    assert find_statement(notes("4 are invited", by="bram"), "jules", says_four) is None


def test_plain_text_has_no_marks() -> None:
    assert plain("**Two** `WS-440`\n| _it_ |  don\u2019t snake_case") == "two ws-440 it don't snake_case"
    assert without_questions("Yes. Is it 4? It is 5.\nReally?\nSo be it.") == "yes. it is 5. so be it."

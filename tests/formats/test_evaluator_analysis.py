"""Analysis of an evaluator's source without running it."""

from __future__ import annotations

import pytest

from worksample.formats.tac.evaluator_analysis import analyse_evaluator

SOURCE = """
import os
from somewhere import read_bytes_from_owncloud, get_model, trajectory_text, sandbox_file_exists

NAME = "report.csv"
PATH = f"/workspace/{NAME}"
SECRET = "/utils/answers.txt"
UNUSED = "/workspace/unused.csv"
POINTS = 3


def helper_without_a_caller():
    get_model()
    return read_bytes_from_owncloud(UNUSED)


def improved():
    return get_model(role="grader")


def fetch():
    return read_bytes_from_owncloud("a", "b")


def graded(state):
    def row(item: list[int]) -> bool:
        return True

    import pypdf
    expected_columns = {"name", "total"}
    if not {"other"}.issubset(expected_columns):
        return []
    re.fullmatch(r"\\d+,x", "1,x")
    return [PATH, SECRET, os.path.join("/data", "made.db"), Checkpoint(total=POINTS, result=0), Checkpoint(2, 1)]


def build_scorer(scoring_mode="original"):
    if scoring_mode == "original":
        return graded
    elif scoring_mode == "improved":
        return improved()
"""


def test_only_reachable_code_is_analysed() -> None:
    found = analyse_evaluator(SOURCE)
    assert found.files == ("report.csv",)
    assert found.references == ("answers.txt",)
    assert found.outside == ("made.db",)
    assert set(found.columns) == {"name", "total", "other"}
    assert found.patterns == (r"\d+,x",)
    assert found.modules == ("pypdf",)
    assert found.points == (3, 2)
    assert found.annotations == ("list[int]", "bool")
    assert (found.services, found.judge, found.messages) == ((), False, False)


@pytest.mark.parametrize(
    ("call", "services", "judge", "messages"),
    [
        ("fetch()", ("owncloud",), False, False),
        ("improved()", (), True, False),
        ("evaluate_chat_history_with_llm()", ("rocketchat",), True, False),
        ("trajectory_text(state)", (), False, True),
        ("risingwave_sandbox_checkpoint1()", ("a running RisingWave",), False, False),
    ],
)
def test_services_judges_and_conversation_are_detected(
    call: str, services: tuple[str, ...], judge: bool, messages: bool
) -> None:
    found = analyse_evaluator(SOURCE.replace("import pypdf", call))
    assert (found.services, found.judge, found.messages) == (services, judge, messages)


@pytest.mark.parametrize("place", ["for n in range(3):", "if state:"])
def test_points_known_only_at_run_time_are_not_guessed(place: str) -> None:
    found = analyse_evaluator(SOURCE.replace("import pypdf", f"{place}\n        Checkpoint(1, 1)"))
    assert found.points is None


def test_source_that_is_not_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        analyse_evaluator("def (")

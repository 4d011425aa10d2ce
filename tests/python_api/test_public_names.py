"""Types in public signatures can be imported from `worksample`, and enum parameters take words."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import worksample
from running.parsing import parsed
from worksample import JudgedBy, MeasureConfig, WorkRules, slots_df
from worksample.errors import UsageError
from worksample.python_api.regrade import _regrading
from worksample.store import Store

CLASSES = (
    "Assignment", "Comparison", "Graded", "MeasureConfig", "Picture", "ReportConfig", "Run", "Section", "SectionRow",
    "Store", "WorkRules", "WorksampleError",
)  # fmt: skip
"""Those that people build, or whose methods they call; the other classes are what these name."""


def public(name: str) -> Iterator[Any]:
    """A function, or a class and all of it that has a signature."""
    value = getattr(worksample, name)
    yield value
    for member, found in vars(value).items() if inspect.isclass(value) else ():
        found = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        if inspect.isfunction(found) and (member == "__init__" or not member.startswith("_")):
            yield found


def named(value: Any) -> Iterator[type]:
    """The classes of ours that the annotations of a function or a class name."""
    module = sys.modules[value.__module__]
    if not module.__name__.startswith("worksample"):
        return
    imports = {
        alias.asname or alias.name: ("." * line.level + (line.module or ""), alias.name)
        for line in ast.walk(parsed(Path(str(module.__file__)).read_text()))
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    annotations = inspect.get_annotations(value)
    for annotation in (text for key, text in annotations.items() if not key.startswith("_")):
        for word in ast.walk(ast.parse(str(annotation), mode="eval")):
            if not isinstance(word, ast.Name) or word.id.startswith("_"):
                continue
            found = getattr(module, word.id, None)
            if found is None and word.id in imports:
                home, name = imports[word.id]
                package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
                found = getattr(import_module(home, package), name, None)
            if inspect.isclass(found) and found.__module__.startswith("worksample"):
                yield found


def test_every_type_of_a_public_signature_is_public() -> None:
    exported = [getattr(worksample, name) for name in worksample.__all__]
    names = [name for name in worksample.__all__ if name in CLASSES or inspect.isfunction(getattr(worksample, name))]
    assert {"run", "measure", "slots_df", *CLASSES} <= set(names)
    found = {kind for name in names for value in public(name) for kind in named(value)}
    assert {JudgedBy, MeasureConfig, Store} <= found
    assert [kind for kind in found if kind not in exported] == []


@pytest.mark.parametrize("word", list(JudgedBy))
def test_evaluator_kind_is_given_by_its_word(tmp_path: Path, word: JudgedBy) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        for given in (word, word.value):
            assert MeasureConfig(judged_by=given).judged_by is word  # type: ignore[arg-type]
            assert WorkRules(judged_by=given).judged_by is word  # type: ignore[arg-type]
            assert slots_df(store, judged_by=given).height == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["person", "People", "", 7])
def test_other_words_are_refused_with_the_allowed_ones(tmp_path: Path, word: Any) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        for build in (
            lambda: MeasureConfig(judged_by=word), lambda: WorkRules(judged_by=word),
            lambda: slots_df(store, judged_by=word),
        ):  # fmt: skip
            with pytest.raises(
                UsageError, match=r"judged_by=.* is not allowed\n  next: one of combined, people, judge, program"
            ):
                build()


@pytest.mark.parametrize(("option", "allowed"), [("protocol", "checkpoints"), ("by", "person, judge, program")])
def test_grade_refuses_unknown_words(option: str, allowed: str) -> None:
    with pytest.raises(UsageError, match=rf"{option}='nonsense' is not allowed(.|\n)*one of .*{allowed}"):
        _regrading(None, (), ("s",), {option: "nonsense"})

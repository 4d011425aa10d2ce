"""Two profiles over one body of tests, and shards of it.

`all` has everything. `quick` is what every change passes: properties with fewer examples and always the same ones, of
many parameters those that `quick(...)` names, and nothing marked `thorough`, which names the test that stands for it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

QUICK_SHARE = 4
"""One example in so many."""
_FEWEST = 5
_TYPICAL_SECONDS = 0.4
_LONG_SECONDS = 10.0
# Properties are never timed, for a busy machine proves nothing.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("all", _COMMON, max_examples=100)
settings.register_profile("quick", _COMMON, max_examples=100 // QUICK_SHARE, derandomize=True)
settings.load_profile("all")


T = TypeVar("T")


def is_quick_run() -> bool:
    """Whether the profile that is running is the quick one."""
    return settings.get_current_profile_name() == "quick"


def examples(number: int) -> int:
    """How many examples a property of its own number has in the profile that is running."""
    return max(min(number, _FEWEST), number // QUICK_SHARE) if is_quick_run() else number


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("worksample")
    group.addoption("--profile", choices=("quick", "all"), default="all", help="which body of tests; all by default")
    group.addoption("--shard", default="1/1", metavar="K/N", help="only the Kth of N parts of about the same length")


def pytest_configure(config: pytest.Config) -> None:
    """Before any module of tests is read: their decorators ask `examples`."""
    settings.load_profile(config.getoption("--profile"))
    shard_of(config)


def shard_of(config: pytest.Config) -> tuple[int, int]:
    """Which part of how many."""
    words = str(config.getoption("--shard")).split("/")
    if len(words) != 2 or not all(word.isdecimal() for word in words) or not 1 <= int(words[0]) <= int(words[1]):
        raise pytest.UsageError(f"--shard {'/'.join(words)}: K/N with K from 1 to N, such as 2/4")
    return int(words[0]), int(words[1])


def root_of(config: pytest.Config) -> Path:
    """The folder of all tests."""
    return config.rootpath / str(config.getini("testpaths")[0])


def is_whole(config: pytest.Config) -> bool:
    """Whether all folders were asked for."""
    return {config.rootpath / arg for arg in config.args} == {root_of(config)}


def is_quick(item: pytest.Item) -> bool:
    """Whether the quick profile has it."""
    if item.get_closest_marker("thorough") is not None:
        return False
    chosen = item.get_closest_marker("quick")
    return chosen is None or _parameters(item) in chosen.args


def seconds_of(item: pytest.Item) -> float:
    """About how long it takes."""
    return _said(item) or (_LONG_SECONDS if item.get_closest_marker("long") else _TYPICAL_SECONDS)


def _said(item: pytest.Item) -> float:
    mark = item.get_closest_marker("long")
    return float(mark.kwargs.get("seconds", 0)) if mark is not None else 0.0


class Refused(pytest.Item):
    """What is wrong with the tests, as a failed one: nobody hears processes that raise it while they collect."""

    why = ""

    def runtest(self) -> None:
        pytest.fail(self.why, pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    try:
        _arrange(config, items)
    except pytest.UsageError as error:
        items[:] = [Refused.from_parent(session, name="marks")]
        items[0].why = str(error)  # type: ignore[attr-defined]


def _arrange(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = list(items)
    if config.getoption("--profile") == "quick":
        _refuse_unknown([item for item in items if not _is_named(config, item)])
        if is_whole(config):
            _refuse_unproven(items, f"{root_of(config).relative_to(config.rootpath).as_posix()}/")
        kept = [item for item in kept if is_quick(item)]
    which, of = shard_of(config)
    kept = shard(kept, which, of)
    left = set(map(id, kept))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in left])
    # One of minutes that begins last keeps one process at work while the others have nothing left to do.
    longest = sorted((item for item in kept if _said(item)), key=lambda item: -_said(item))
    items[:] = dealt(longest, [item for item in kept if not _said(item)], _processes())


def _processes() -> int:
    """How many share the tests; each of them collects, and has to come to the same order."""
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def dealt(first: Sequence[T], then: Sequence[T], hands: int) -> list[T]:
    """All of them, so that of `hands` parts of one length each begins with its share of the first.

    With `--dist worksteal` each process begins with such a part: the first would else all be in one, one after another.
    """
    rest, all_of_them = iter(then), len(first) + len(then)
    order: list[T] = []
    for hand in range(hands):
        size = (all_of_them - len(order)) // (hands - hand)
        own = first[hand::hands]
        order += [*own, *islice(rest, max(0, size - len(own)))]
    return [*order, *rest]


def shard(items: Sequence[pytest.Item], which: int, of: int) -> list[pytest.Item]:
    """Whole files, longest first, each to the shard that has least; the same on every machine."""
    by_file: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        by_file[item.nodeid.partition("::")[0]].append(item)
    loads = [0.0] * of
    mine: set[str] = set()
    weights = {file: sum(map(seconds_of, found)) for file, found in by_file.items()}
    for file in sorted(by_file, key=lambda file: (-weights[file], file)):
        least = loads.index(min(loads))
        loads[least] += weights[file]
        if least == which - 1:
            mine.add(file)
    return [item for item in items if item.nodeid.partition("::")[0] in mine]


def _parameters(item: pytest.Item) -> str:
    found = getattr(item, "callspec", None)
    return found.id if found is not None else ""


def _is_named(config: pytest.Config, item: pytest.Item) -> bool:
    """Whether its test was asked for with parameters, so that not all of them are here."""
    name = item.nodeid.partition("[")[0]
    return any("[" in arg and arg.partition("[")[0].endswith(name) for arg in config.args)


def _refuse_unknown(items: Sequence[pytest.Item]) -> None:
    """A name in `quick(...)` that no test has would leave one out without a word."""
    known: dict[str, set[str]] = defaultdict(set)
    wanted: dict[str, tuple[str, ...]] = {}
    for item in items:
        chosen = item.get_closest_marker("quick")
        if chosen is not None:
            name = item.nodeid.partition("[")[0]
            known[name].add(_parameters(item))
            wanted[name] = chosen.args
    for name, ids in wanted.items():
        if missing := set(ids) - known[name]:
            have = ", ".join(sorted(known[name]))
            raise pytest.UsageError(f"{name}: quick({', '.join(sorted(missing))}): it has {have}")


def _refuse_unproven(items: Sequence[pytest.Item], folder: str) -> None:
    """What the quick profile leaves out has somebody in it that goes the same way."""
    quick = {name for item in items if is_quick(item) for name in (item.nodeid, item.nodeid.partition("[")[0])}
    for item in items:
        mark = item.get_closest_marker("thorough")
        if mark is not None and folder + mark.kwargs.get("quick", "") not in quick:
            raise pytest.UsageError(f"{item.nodeid}: thorough(quick=...) names no test of the quick profile")

"""Which tests may be skipped: those in tests/skips.toml. With `--known-skips` any other skip fails the run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase

import pytest

from running.profiles import root_of

FILE = "skips.toml"
"""In the folder of all tests."""


@dataclass(frozen=True)
class Known:
    """`tests`: names as pytest prints them, with `*`; `reason`: what the skip says, with `*`; `because`: why it may."""

    tests: str
    reason: str
    because: str


def read(text: str) -> tuple[Known, ...]:
    return tuple(Known(**entry) for entry in tomllib.loads(text).get("skip", ()))


def unknown(skips: dict[str, str], known: tuple[Known, ...]) -> dict[str, str]:
    """Test -> reason of those that nobody allowed."""
    return {
        test: reason
        for test, reason in skips.items()
        if not any(fnmatchcase(test, _plain(k.tests)) and fnmatchcase(reason, k.reason) for k in known)
    }


def _plain(pattern: str) -> str:
    """Brackets are those of parameters."""
    return pattern.replace("[", "[[]")


SKIPS = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("worksample").addoption(
        "--known-skips", action="store_true", help="fail where a test is skipped that tests/skips.toml does not name"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SKIPS] = {}
    config.pluginmanager.register(_Watch(config), "worksample-skips")


class _Watch:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._take(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A whole module that skipped itself."""
        self._take(report)

    def _take(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.config.stash[SKIPS][report.nodeid] = said.removeprefix("Skipped: ")


def _refused(config: pytest.Config) -> dict[str, str]:
    if not config.getoption("--known-skips") or hasattr(config, "workerinput"):
        return {}
    return unknown(config.stash[SKIPS], read((root_of(config) / FILE).read_text(encoding="utf-8")))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and _refused(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    refused = _refused(config)
    if refused:
        terminalreporter.section("skips that tests/skips.toml does not name", red=True)
        for test, reason in sorted(refused.items()):
            terminalreporter.line(f"{test}: {reason}")

"""Missing programs of `command` agents are found before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.agents import define
from worksample.agents.agent_builder import check_program
from worksample.agents.missing_programs import missing_program, programs_of
from worksample.errors import PlanError


@pytest.mark.parametrize(
    ("argv", "programs"),
    [
        (["my-agent", "--x"], ("my-agent",)),
        (["sh", "-c", "my-agent --task {brief}"], ("sh", "my-agent")),
        (["bash", "-lc", "my-agent; true"], ("bash", "my-agent")),
        (["sh", "-c", "cd {output} && my-agent"], ("sh",)),
        (["sh", "-c", "A=1 my-agent"], ("sh",)),
        (["sh", "-c", "( my-agent )"], ("sh",)),
        (["sh", "-c", "{software}/agent"], ("sh",)),
        (["sh", "-c", "'unfinished"], ("sh",)),
        (["sh", "-c", ""], ("sh",)),
        (["sh", "run.sh"], ("sh",)),
    ],
)
def test_required_programs_are_found_in_the_command(argv: list[str], programs: tuple[str, ...]) -> None:
    assert programs_of(argv) == programs


def test_only_programs_known_to_be_missing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sh").write_text("#!/bin/true\n")
    (tmp_path / "sh").chmod(0o755)
    path = str(tmp_path)
    assert missing_program(["sh", "-c", "true"], path) == ""
    assert missing_program(["sh", "-c", "my-agent"], path) == "my-agent"
    assert missing_program(["/usr/bin/no-such-agent"], path) == "/usr/bin/no-such-agent"
    for there in ("{software}/agent", "./agent", "python3", "/task/software/agent"):
        assert missing_program([there], path) == ""


def test_plan_with_a_missing_program_is_refused() -> None:
    agent = define("mine", harness="command", settings={"argv": ["sh", "-c", "no-such-agent {brief}"]})
    with pytest.raises(PlanError, match="lacks the program 'no-such-agent'") as caught:
        check_program(agent, "/usr/bin:/bin")
    assert "software/" in caught.value.next

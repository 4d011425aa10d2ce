"""A Python agent that calls `sys.exit` fails its own trial, and no other trial of the run."""

from __future__ import annotations

import sys

import pytest

from worksample.agents.python_agent import _run_agent_code
from worksample.errors import AgentError


async def test_agent_that_exits_has_failed() -> None:
    async def leave() -> None:
        sys.exit(3)

    with pytest.raises(AgentError, match="SystemExit: 3"):
        await _run_agent_code(leave(), None)

"""An agent's own code that leaves by `sys.exit` fails its trial, and not the run with every trial beside it."""

from __future__ import annotations

import sys

import pytest

from worksample.agents.python_agent import _run_agent_code
from worksample.errors import AgentError


async def test_an_agent_that_exits_is_an_agent_that_failed() -> None:
    async def leave() -> None:
        sys.exit(3)

    with pytest.raises(AgentError, match="SystemExit: 3"):
        await _run_agent_code(leave(), None)

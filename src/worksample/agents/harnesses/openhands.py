"""Harness of OpenHands."""

from worksample.agents.installing.agent_program import QUIET, Program, PyPI

OPENHANDS = Program(
    name="openhands",
    about="OpenHands, its command line without an interface",
    source=PyPI("openhands", python=(3, 12)),
    tried="1.16.0",
    argv=(
        "{program}/bin/python",
        "{program}/bin/openhands",
        "--headless",
        "--always-approve",
        "--exit-without-confirmation",
        "--override-with-envs",
        "--file",
        "{brief}",
    ),
    env={
        **QUIET,
        "LLM_MODEL": "openai/{model}",
        "LLM_BASE_URL": "{door}/v1",
        "LLM_API_KEY": "none-is-needed",
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    },
    files={".openhands/mcp.json": '{"mcpServers": "{mcp}"}\n'},
    mcp="openhands",
    brief="file",
    logs=(".openhands/conversations",),
)

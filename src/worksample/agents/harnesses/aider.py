"""Harness of the command-line agent aider."""

from worksample.agents.installing.agent_program import QUIET, Program, PyPI

AIDER = Program(
    name="aider",
    about="aider, which writes files from what a model answers, without tools",
    source=PyPI("aider-chat"),
    tried="0.86.2",
    argv=(
        "{program}/bin/python",
        "{program}/bin/aider",
        "--model",
        "openai/{model}",
        "--message-file",
        "{brief}",
        "--yes-always",
        "--no-git",
        "--no-gitignore",
        "--no-pretty",
        "--no-fancy-input",
        "--no-check-update",
        "--no-show-release-notes",
        "--no-show-model-warnings",
        "--no-detect-urls",
        "--analytics-disable",
        "--chat-history-file",
        "/home/agent/aider.chat.md",
        "--input-history-file",
        "/home/agent/aider.input",
    ),
    env={**QUIET, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"},
    brief="file",
    logs=("aider.chat.md",),
    tools=False,
)

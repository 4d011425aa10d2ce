"""Harness of Google's Gemini CLI."""

import json

from worksample.agents.installing.agent_program import QUIET, Npm, Program

SETTINGS = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "checkpointing": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "tools": {"sandbox": False},
    "mcpServers": "{mcp}",
}

GEMINI_CLI = Program(
    name="gemini-cli",
    about="Gemini CLI, Google's agent for the terminal",
    source=Npm("@google/gemini-cli", node=True),
    tried="0.61.0",
    argv=(
        "{node}",
        "{program}/node_modules/@google/gemini-cli/bundle/gemini.js",
        "--yolo",
        "--skip-trust",
        "--model",
        "{model}",
        "--include-directories",
        "{input},{output},{software}",
    ),
    env={**QUIET, "GEMINI_SANDBOX": "false", "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"},
    files={".gemini/settings.json": json.dumps(SETTINGS, indent=2)},
    mcp="gemini",
    logs=(".gemini/tmp",),
)

"""Harness of Alibaba's Qwen Code."""

import json

from worksample.agents.installing.agent_program import QUIET, Npm, Program

SETTINGS = {
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "tools": {"sandbox": False},
    "mcpServers": "{mcp}",
}

QWEN_CODE = Program(
    name="qwen-code",
    about="Qwen Code, Alibaba's agent for the terminal",
    source=Npm("@qwen-code/qwen-code", node=True),
    tried="0.24.4",
    argv=(
        "{node}",
        "{program}/node_modules/@qwen-code/qwen-code/cli.js",
        "--yolo",
        "--auth-type",
        "openai",
        "--model",
        "{model}",
        "--include-directories",
        "{input},{output},{software}",
    ),
    env={**QUIET, "QWEN_SANDBOX": "false"},
    files={".qwen/settings.json": json.dumps(SETTINGS, indent=2)},
    mcp="gemini",
    logs=(".qwen/projects", ".qwen/tmp"),
    memory=1280 << 20,
)

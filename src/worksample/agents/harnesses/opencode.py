"""Harness of OpenCode."""

import json

from worksample.agents.installing.agent_program import QUIET, Npm, Program

CONFIG = {
    "autoupdate": False,
    "share": "disabled",
    "mcp": "{mcp}",
    "model": "door/{model}",
    "small_model": "door/{model}",
    "provider": {
        "door": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "door",
            "options": {"baseURL": "{door}/v1", "apiKey": "none-is-needed"},
            "models": {"{model}": {"name": "{model}"}},
        }
    },
}

OPENCODE = Program(
    name="opencode",
    about="OpenCode, an open agent for the terminal",
    source=Npm("opencode-ai"),
    tried="1.18.33",
    argv=(
        "{program}/node_modules/opencode-linux-{arch}/bin/opencode",
        "run",
        "--auto",
        "--pure",
        "--title",
        "work",
        "--model",
        "door/{model}",
    ),
    env={
        **QUIET,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
    files={".config/opencode/opencode.json": json.dumps(CONFIG, indent=2)},
    mcp="opencode",
    logs=(".local/share/opencode/log", ".local/share/opencode/storage"),
)

"""Harness of the open Grok CLI, which is not xAI's own program."""

import json

from worksample.agents.installing.agent_program import QUIET, Npm, Program

SETTINGS = {"apiKey": "none-is-needed", "baseURL": "{door}/v1", "defaultModel": "{model}", "models": ["{model}"]}

GROK_CLI = Program(
    name="grok-cli",
    about="Grok CLI of superagent (not of xAI), an open agent for the terminal",
    source=Npm("@vibe-kit/grok-cli", node=True),
    tried="0.0.34",
    argv=(
        "sh",
        "-c",
        "exec {node} {program}/node_modules/@vibe-kit/grok-cli/dist/index.js --base-url {door}/v1 --model {model} "
        '--max-tool-rounds 1000 --prompt "$(cat {brief})" </dev/null',
    ),
    env={**QUIET, "GROK_API_KEY": "none-is-needed", "GROK_BASE_URL": "{door}/v1", "GROK_MODEL": "{model}"},
    files={".grok/user-settings.json": json.dumps(SETTINGS, indent=2)},
    brief="file",
    logs=(".grok",),
    memory=256 << 20,
)

"""Harness of Moonshot's Kimi Code."""

from worksample.agents.installing.agent_program import QUIET, Npm, Program

CONFIG = """\
default_model = "door/model"
default_permission_mode = "auto"
telemetry = false

[providers.door]
type = "openai"
base_url = "{door}/v1"
api_key = "none-is-needed"

[models."door/model"]
provider = "door"
model = "{model}"
max_context_size = 128000
capabilities = ["tool_use"]
"""

KIMI_CODE = Program(
    name="kimi-code",
    about="Kimi Code, Moonshot's agent for the terminal",
    source=Npm("@moonshot-ai/kimi-code", node=True),
    tried="2.1.0",
    argv=(
        "sh",
        "-c",
        "exec {node} {program}/node_modules/@moonshot-ai/kimi-code/dist/main.mjs --add-dir {input} --add-dir {output} "
        '--prompt "$(cat {brief})" </dev/null',
    ),
    env={**QUIET, "KIMI_DISABLE_TELEMETRY": "1"},
    files={
        ".kimi-code/config.toml": CONFIG,
        ".kimi-code/tui.toml": "[auto_update]\nenabled = false\n",
        ".kimi-code/mcp.json": '{"mcpServers": "{mcp}"}\n',
    },
    mcp="usual",
    brief="file",
    logs=(".kimi-code/sessions", ".kimi-code/logs"),
    memory=512 << 20,
)

"""Harness of OpenAI's Codex."""

from worksample.agents.installing.agent_program import QUIET, Npm, Program

CONFIG = """\
model = "{model}"
model_provider = "door"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[otel]
exporter = "none"

[model_providers.door]
name = "door"
base_url = "{door}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
{mcp}
"""

CODEX = Program(
    name="codex",
    about="Codex, OpenAI's agent for the terminal",
    source=Npm("@openai/codex"),
    tried="0.169.0",
    argv=(
        "{program}/node_modules/@openai/codex-linux-{arch}/vendor/{machine}-unknown-linux-musl/bin/codex",
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "-",
    ),
    env=QUIET,
    files={".codex/config.toml": CONFIG},
    mcp="codex",
    logs=(".codex/sessions",),
)

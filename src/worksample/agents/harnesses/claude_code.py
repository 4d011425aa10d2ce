"""Harness of Anthropic's Claude Code."""

from worksample.agents.installing.agent_program import QUIET, Npm, Program

CLAUDE_CODE = Program(
    name="claude-code",
    about="Claude Code, Anthropic's agent for the terminal",
    source=Npm("@anthropic-ai/claude-code"),
    tried="2.1.330",
    argv=(
        "{program}/node_modules/@anthropic-ai/claude-code-linux-{arch}/claude",
        "--print",
        "--dangerously-skip-permissions",
        "--model",
        "{model}",
        "--strict-mcp-config",
        "--mcp-config",
        "/home/agent/.claude/worksample-mcp.json",
    ),
    env={
        **QUIET,
        "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    },
    files={".claude/worksample-mcp.json": '{"mcpServers": "{mcp}"}\n'},
    mcp="usual",
    logs=(".claude/projects",),
)

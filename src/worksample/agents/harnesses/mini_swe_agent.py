"""Harness of mini-SWE-agent."""

from worksample.agents.installing.agent_program import QUIET, Program, PyPI

MINI_SWE_AGENT = Program(
    name="mini-swe-agent",
    about="mini-SWE-agent of Princeton and Stanford: a shell and little else",
    source=PyPI("mini-swe-agent", also=("mcp",)),  # its litellm imports mcp when it calls a model
    tried="2.4.6",
    argv=(
        "sh",
        "-c",
        "exec {program}/bin/python {program}/bin/mini --yolo --exit-immediately --cost-limit 0 "
        '--model "openai/{model}" --output "$HOME/trajectory.json" --task "$(cat {brief})" </dev/null',
    ),
    env={
        **QUIET,
        "MSWEA_CONFIGURED": "true",
        "MSWEA_SILENT_STARTUP": "1",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    },
    brief="file",
    logs=("trajectory.json",),
    ends_by="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
)

"""Harness of Nous Research's Hermes Agent."""

from worksample.agents.installing.agent_program import QUIET, Program, PyPI

CONFIG = """\
model:
  default: "{model}"
  provider: "custom"
  base_url: "{door}/v1"
  api_key: "none-is-needed"
  context_length: 128000
terminal:
  backend: "local"
approvals:
  mode: "off"
memory:
  memory_enabled: false
  user_profile_enabled: false
"""

HERMES = Program(
    name="hermes",
    about="Hermes Agent of Nous Research",
    source=PyPI("hermes-agent", python=(3, 11)),
    tried="0.19.0",
    argv=(
        "sh",
        "-c",
        "exec {program}/bin/python {program}/bin/hermes chat --yolo --quiet --model {model} "
        '--query "$(cat {brief})" </dev/null',
    ),
    env={
        **QUIET,
        "HERMES_HOME": "/home/agent/.hermes",
        "HERMES_YOLO_MODE": "1",
        "OPENAI_BASE_URL": "{door}/v1",
        "OPENAI_API_KEY": "none-is-needed",
    },
    files={".hermes/config.yaml": CONFIG},
    brief="file",
    logs=(".hermes/sessions", ".hermes/logs"),
    memory=512 << 20,
)

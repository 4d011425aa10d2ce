"""Presets: settings of the agents that published papers describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Preset:
    """Preset: a harness with settings. `about` names the source of each number."""

    harness: str
    settings: Mapping[str, Any]
    about: str
    capabilities: tuple[str, ...] = ()
    """Capabilities that the paper's agents had, if the agent's table names none."""


_RLI = {"auxiliary": True, "limits": {"time": 3600, "cost": 30.0}}
_ALE = {
    "tools": ["bash", "python", "files", "image", "search", "plan", "fetch", "web_search"],
    "subagents": ["general", "explore"],
    "compaction": ["clear", "summarise", "truncate"],
    "compact_at": 0.8,
    "keep_turns": 3,
    "subagents_at_once": 3,
    "gui_turns": 15,
    "tool_output": 16_000,
    "self_check": "look",
    "limits": {"time": 18_000},
}


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "rli": Preset(
            harness="worker",
            settings={
                "auxiliary": True,
                "self_check": "look",
                "limits": {"time": 3600, "cost": 30.0},
            },
            about="One hour and $30 per project, an auxiliary folder, looks at its own work (RLI B.3, B.6).",
        ),
        "rli-cli": Preset(
            harness="worker",
            settings={**_RLI, "tools": ["bash", "python", "files", "image"], "interfaces": [], "self_check": "read"},
            about=(
                "The command-line scaffold: one hour, $30, an auxiliary folder, shell and files, no screen. Its media "
                "tools are those of the setting `media` (RLI A.3, B.3, B.6)."
            ),
        ),
        "rli-cua": Preset(
            harness="worker",
            settings={**_RLI, "tools": ["bash", "files", "image"], "interfaces": ["desktop"], "self_check": "look"},
            about=(
                "The computer-use scaffold: screen, shell and files, one hour, $30, looks at its own work (RLI A.3, "
                "B.3, B.6)."
            ),
            capabilities=("vision",),
        ),
        "upbench": Preset(
            harness="plan-act-reflect",
            settings={"attachments": "inline", "tools": ["files"], "rounds": 3},
            about="Plan, act, reflect; reads textual attachments and stores artifacts, nothing else (UpBench 5.1).",
        ),
        "ale": Preset(
            harness="worker",
            settings=_ALE,
            about=(
                "Five hours; one action loop, modular tools, browser and desktop as tools, sub-agents, a plan, three "
                "tiers of compaction from 80 % of the context on (ALE 3.2, 4.1, C.4, D.2). No memory, as ALE-Claw."
            ),
            capabilities=("vision",),
        ),
        "ale-cli": Preset(
            harness="worker",
            settings={**_ALE, "interfaces": []},
            about="As `ale`, without browser and desktop, for ALE-CLI (ALE 4.1, lower panel of Table 1).",
        ),
        "tac": Preset(
            harness="worker",
            settings={"tools": ["bash", "python"], "self_check": "none", "limits": {"turns": 100, "cost": 4.0}},
            about="Bash, Python and the task's browser; 100 steps and $4 per task (evaluation/run_eval.py of the "
            "repository: max_iterations, max_budget_per_task). The paper states no ceiling (TAC, Table 3).",
        ),
    }
)

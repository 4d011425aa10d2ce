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
        "upbench": Preset(
            harness="plan-act-reflect",
            settings={"attachments": "inline", "tools": ["files"], "rounds": 3},
            about="Plan, act, reflect; reads textual attachments and stores artifacts, nothing else (UpBench 5.1).",
        ),
        "ale": Preset(
            harness="worker",
            settings={"self_check": "look", "limits": {"time": 18_000}},
            about="Five hours; one action loop, modular tools, compaction of the context (ALE 3.2, C.4, D.2).",
        ),
        "tac": Preset(
            harness="worker",
            settings={"tools": ["bash", "python"], "self_check": "none", "limits": {"turns": 100, "cost": 4.0}},
            about="Bash, Python and the task's browser; 100 steps and $4 per task (evaluation/run_eval.py of the "
            "repository: max_iterations, max_budget_per_task). The paper states no ceiling (TAC, Table 3).",
        ),
    }
)

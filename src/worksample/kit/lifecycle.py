"""`python -m worksample.kit.lifecycle ROLE CASE.json [NAME=PATH ...]`: run a function of a task's `task.py`.

ROLE is `load` or `start`. CASE.json is that of `python -m worksample.kit`.

`load()` returns the instances of the task as `LoadedInstance`s. `start(session, settings)` prepares the agent's box.

The result is a JSON file: `{"instances": [...]}`, `{"started": true}`, or `{"failed": cause, "reason": text}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import Cause

from .broker_client import BrokerClient
from .grader_process import case_data, classify, write_result
from .loaded_instance import LoadedInstance
from .session import Session
from .task_function import call_function, function_of

MOST_INSTANCES = 1_000
"""Maximum number of instances that `load` may return."""
MOST_BYTES = 64 << 20
"""Maximum size of all files of all instances that `load` returns, in bytes."""


def _load(data: Mapping[str, Any]) -> dict[str, Any]:
    made = call_function(function_of(Path(data["folders"]["grader"]), data["entry"], "load"))
    if not isinstance(made, Sequence) or isinstance(made, (str, bytes)):
        raise TypeError("load() returned no list of LoadedInstance")
    if not 0 < len(made) <= MOST_INSTANCES:
        raise ValueError(f"load() returned {len(made):,} instances; a task has 1 to {MOST_INSTANCES:,}")
    if not all(isinstance(one, LoadedInstance) for one in made):
        raise TypeError("load() returned something else than LoadedInstance")
    size = sum(len(content) for one in made for files in (one.inputs, one.reference) for content in files.values())
    if size > MOST_BYTES:
        raise ValueError(f"load() returned files of {size:,} bytes; at most {MOST_BYTES:,} are read")
    return {"instances": [one.plain() for one in made]}


def _start(data: Mapping[str, Any]) -> dict[str, Any]:
    function = function_of(Path(data["folders"]["grader"]), data["entry"], "start")
    call_function(function, Session(BrokerClient(Path(data["broker"]))), dict(data.get("settings") or {}))
    return {"started": True}


def outcome(role: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Call the function of a role and return the content of the result file. Never raises."""
    try:
        return _load(data) if role == "load" else _start(data)
    except BaseException as error:  # noqa: BLE001 - imported code: any exception is its result
        cause, reason = classify(error)
        return {"failed": str(cause), "reason": reason}


def main(argv: list[str]) -> int:
    """Call the function and write the result file. Returns the exit code: 0 if a result was written, 2 for wrong
    arguments.
    """
    if len(argv) < 3 or argv[1] not in ("load", "start") or any("=" not in word for word in argv[3:]):
        sys.stderr.write("usage: python -m worksample.kit.lifecycle load|start CASE.json [NAME=PATH ...]\n")
        return 2
    data = case_data(argv[2], argv[3:])
    try:
        text = json.dumps(outcome(argv[1], data), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps({"failed": str(Cause.GRADER_MALFORMED), "reason": f"the result is not JSON: {error}"[:500]})
    write_result(Path(data["result"]), text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

"""Parts of the reference agent left out one after another: a scripted study, which says nothing about any model.

One job: find a number in 40 files of 6,000 characters and hand it in. The scripted model has a window of 30,000 tokens
and knows only what its prompt shows. It uses the best part that it has: it searches, else it delegates, else it reads
file after file and writes the number into its memory. So each row shows what a part saves, or that the job fails
without it.

`python benchmarks/worker_parts.py` prints the rows of docs/reference/worker-parts.csv, `--write` puts them there.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.agents import build, define
from worksample.agents.agent_builder import model_of
from worksample.files import HashSink
from worksample.models import ModelService
from worksample.records import Instance, Paths
from worksample.tasks import find_suite, ingest, read_suite

ROWS = Path(__file__).parents[1] / "docs/reference/worker-parts.csv"
WINDOW, FILES, PLACE, NEEDLE = 30_000, 40, 6, "needle: 4711"
HEAD = ("left out", "found", "ended by", "model calls", "prompt tokens", "largest prompt")
FULL: Mapping[str, Any] = {
    "tools": ["files", "search", "plan", "memory"],
    "subagents": ["general"],
    "compaction": ["clear", "summarise", "truncate"],
    "compact_at": 24_000,
}
LESS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("nothing", {}),
    ("plan", {"tools": ["files", "search", "memory"]}),
    ("and search", {"tools": ["files", "memory"]}),
    ("and sub-agents", {"tools": ["files", "memory"], "subagents": []}),
    ("and memory", {"tools": ["files"], "subagents": []}),
    ("and summaries", {"tools": ["files"], "subagents": [], "compaction": ["clear", "truncate"]}),
    ("and all compaction", {"tools": ["files"], "subagents": [], "compaction": []}),
)


class ScriptedModel:
    """A model that answers by rules from what its prompt shows. It adds up its prompts."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.done = folder, set[str]()
        self.read = {"agent": 0, "sub-agent": 0}
        self.calls = self.tokens = self.largest = 0

    def reply(self, messages: Sequence[Any], tools: Sequence[Any], *more: Any) -> Any:
        from inspect_ai.model import ModelOutput, ModelUsage

        size = sum(len(one.text) // 4 + 4 for one in messages)
        self.calls += 1
        if size > WINDOW:
            return ModelOutput.from_content("mockllm/model", "too long", stop_reason="model_length")
        self.tokens, self.largest = self.tokens + size, max(self.largest, size)
        text = "\n".join(one.text for one in messages)
        known = found[0] if (found := re.search(r"needle: \d+", text)) else "unknown"
        if not tools:
            out = ModelOutput.from_content("mockllm/model", f"Read {self.read['agent']} files. {known}")
        else:
            out = ModelOutput.for_tool_call("mockllm/model", *self._next({one.name for one in tools}, text, known))
        out.usage = ModelUsage(input_tokens=size, output_tokens=20, total_tokens=size + 20)
        return out

    def _next(self, names: set[str], text: str, known: str) -> tuple[str, dict[str, Any]]:
        """Return the next tool call."""
        if "report" in names:
            more = self._read("sub-agent") if known == "unknown" else None
            return more or ("report", {"text": known})
        if "todo_write" in names and self._first("plan"):
            return "todo_write", {"todos": [{"content": "find the number", "status": "in_progress"}]}
        if "grep" in names:
            if self._first("search"):
                return "grep", {"pattern": "needle", "path": str(self.folder / "input")}
        elif "delegate" in names:
            if self._first("delegate"):
                return "delegate", {"kind": "general", "task": "Find the number."}
        else:
            if "memory" in names and known != "unknown" and self._first("note"):
                return "memory", {"command": "create", "path": "/memories/found.txt", "file_text": known}
            if (call := self._read("agent")) is not None:
                return call
            if "memory" in names and self._first("look"):
                return "memory", {"command": "view", "path": "/memories/found.txt"}
        if self._first("write"):
            return "write_file", {"path": str(self.folder / "output/answer.txt"), "text": known}
        return "submit", {}

    def _first(self, what: str) -> bool:
        new = what not in self.done
        self.done.add(what)
        return new

    def _read(self, who: str) -> tuple[str, dict[str, Any]] | None:
        if self.read[who] == FILES:
            return None
        self.read[who] += 1
        return "read_file", {"path": str(self.folder / f"input/{self.read[who]:02}.txt")}


def job(folder: Path) -> Instance:
    """Write the files of the job and return its instance."""
    for name in ("input", "output", "scratch", "software"):
        (folder / name).mkdir()
    for number in range(1, FILES + 1):
        line = NEEDLE if number == PLACE else "nothing of note"
        (folder / f"input/{number:02}.txt").write_text("\n".join(["lorem ipsum " * 10] * 49 + [line]), encoding="utf-8")
    [instance, *_] = ingest(read_suite(find_suite("starter")).packages[0], HashSink()).instances
    paths = Paths(input=str(folder / "input"), output=str(folder / "output"), software=str(folder / "software"))
    environment = instance.work.environment.replaced(paths=paths)
    work = instance.work.replaced(environment=environment, brief="Find the number.", deliverables=())
    return instance.replaced(work=work)


async def run(left_out: str, less: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the row of one agent."""
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import Sample
    from inspect_ai.util._display import init_display_type

    init_display_type("none")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instance, scripted = job(folder), ScriptedModel(folder)
        agent = define("parts", harness="worker", model="mockllm/model", settings={**FULL, **less})
        model = model_of(agent, ModelService(args={"custom_outputs": scripted.reply}))
        solver = build(agent, instance, model=model, inputs=folder / "input", scratch=str(folder / "scratch"))
        [log] = await eval_async(
            Task(dataset=[Sample(input="-", sandbox="local")], solver=solver), model=model,
            log_dir=str(folder / "logs"), log_realtime=False, score=False, fail_on_error=False, ctl_server=False,
            acp_server=False,
        )  # fmt: skip
        error = log.samples[0].error if log.samples else None
        answer = folder / "output/answer.txt"
        found = answer.is_file() and answer.read_text(encoding="utf-8") == NEEDLE
    ended = "its own submission" if error is None else error.message.partition("\n")[0][:80]
    return (left_out, "yes" if found else "no", ended, scripted.calls, scripted.tokens, scripted.largest)


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [HEAD, *(asyncio.run(run(name, less)) for name, less in LESS)]
    if asked.write:
        with ROWS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()

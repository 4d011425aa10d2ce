"""Tokens of a scripted run of 1,000 steps through the reference agent's conversation, with and without each tier.

No language model takes part: a double calls one tool at each step, whose result has 200 to 16,000 characters (lengths
are drawn log-uniformly, always the same). The window has 128,000 tokens, and compaction begins at 80 % of it. A
conversation that does not fit ends the run, as a service would end it. `repeated` is the share of the prompt that
equals the request before it from its beginning on, which services sell cheaper: each compaction loses that.

`python benchmarks/compaction.py` prints the rows of docs/reference/compaction.csv, `--write` puts them there.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from worksample.agents.conversation import Conversation, work
from worksample.agents.harness_settings import CompactionTier
from worksample.agents.workspace import Workspace
from worksample.files import HashSink
from worksample.models import ModelService, resolve
from worksample.records import Limits
from worksample.tasks import find_suite, ingest, read_suite

ROWS = Path(__file__).parents[1] / "docs/reference/compaction.csv"
WINDOW, SHARE, STEPS = 128_000, 0.8, 1000
HEAD = ("tiers", "steps", "model calls", "prompt tokens", "repeated", "largest prompt", "compactions", "processor s")
SUMMARY = "Summary of the work so far: " + "a fact that was found; " * 200
TIERS: tuple[tuple[CompactionTier, ...], ...] = (
    (),
    ("clear",),
    ("summarise",),
    ("truncate",),
    ("clear", "truncate"),
    ("summarise", "truncate"),
    ("clear", "summarise"),
    ("clear", "summarise", "truncate"),
)


class Double:
    """A model that calls one tool at each step and answers requests for a summary. It adds up its prompts."""

    def __init__(self) -> None:
        self.calls = self.steps = self.tokens = self.repeated = self.largest = 0
        self.before: list[str] = []

    def reply(self, messages: Sequence[Any], tools: Sequence[Any], *more: Any) -> Any:
        from inspect_ai.model import ModelOutput, ModelUsage

        shown = [f"{one.role}{one.text}" for one in messages]
        sizes = [len(one) // 4 + 4 for one in shown]
        size = sum(sizes)
        same = next((i for i, (a, b) in enumerate(zip(shown, self.before, strict=False)) if a != b), None)
        same = min(len(shown), len(self.before)) if same is None else same
        self.calls += 1
        if size > WINDOW:
            return ModelOutput.from_content("mockllm/model", "too long", stop_reason="model_length")
        self.tokens += size
        self.repeated += sum(sizes[:same])
        self.largest = max(self.largest, size)
        if not tools:
            out = ModelOutput.from_content("mockllm/model", SUMMARY)
        else:
            self.steps, self.before = self.steps + 1, shown
            name = "submit" if self.steps > STEPS else "look"
            out = ModelOutput.for_tool_call("mockllm/model", name, {})
        out.usage = ModelUsage(input_tokens=size, output_tokens=20, total_tokens=size + 20)
        return out


async def run(tiers: Sequence[CompactionTier]) -> tuple[Any, ...]:
    """Return the row of one choice of tiers."""
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import solver
    from inspect_ai.util._display import init_display_type

    from worksample.agents.tools.submit import submit
    from worksample.agents.tools.tool_definition import tool_of

    init_display_type("none")
    [instance, *_] = ingest(read_suite(find_suite("starter")).packages[0], HashSink()).instances
    double, rng, ended = Double(), random.Random(1), ""
    model = resolve("mockllm/model", ModelService(args={"custom_outputs": double.reply}))

    async def look() -> str:
        return "x" * int(200 * 80 ** rng.random())

    @solver(name="run")
    def build() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            from inspect_ai.model import ChatMessageSystem, ChatMessageUser

            nonlocal ended
            state.messages = [
                ChatMessageSystem(content="s" * 4000),
                ChatMessageUser(content="b" * 4000, source="input"),
            ]
            tools = [tool_of("look", "Look.", {}, look), submit()]
            workspace = Workspace(instance, Limits())
            conversation = Conversation(
                model, workspace, tools, state, compact_at=WINDOW * SHARE, compaction=tiers, mends=False
            )
            ended = await work(conversation, 0, "")
            return state

        return solve

    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        [log] = await eval_async(
            Task(dataset=[Sample(input="-")], solver=build()), model=model, log_dir=folder, log_realtime=False,
            score=False, fail_on_error=False, log_model_api=False, ctl_server=False, acp_server=False,
        )  # fmt: skip
        events = log.samples[0].events if log.samples else []
        compactions = sum(1 for one in events if one.event == "compaction")
    steps = min(double.steps, STEPS)
    return (
        " + ".join(tiers) or "none", steps, double.calls, double.tokens,
        f"{100 * double.repeated / double.tokens:.0f} %", double.largest, compactions,
        f"{time.process_time() - began:.0f}",
    )  # fmt: skip


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [HEAD, *(asyncio.run(run(tiers)) for tiers in TIERS)]
    if asked.write:
        with ROWS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()

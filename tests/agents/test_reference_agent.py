"""The parts of the reference agent: tiers of compaction, sub-agents, plan, memory, repeated calls, long results.

Peers' faults tried here: compaction that starts again at each turn, results without their calls after truncation,
reports of many sub-agents that overflow their parent, an overflow of a sub-agent that ends its parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.desk_material import instance_at, work_here
from openai_server import Answer, Call, calls, says, serving
from worksample.agents import define
from worksample.agents.harness_settings import WorkerSettings
from worksample.models import ModelService, resolve
from worksample.records import Limits

MODEL = "openai-api/local/model-1"
SUMMARISING = "create a detailed summary"


def size_of(request: dict[str, Any]) -> int:
    return sum(len(str(m)) for m in request["messages"]) // 4


def tool_names(request: dict[str, Any]) -> set[str]:
    return {one["function"]["name"] for one in request.get("tools") or []}


async def ended(folder: Path, answers: Any, limits: Limits | None = None, **settings: Any) -> tuple[Any, list[Any]]:
    instance = instance_at(folder, limits=limits or Limits(time=120))
    agent = define("worker", harness="worker", model=MODEL, settings=settings, capabilities=("vision",))
    with serving(answers) as served:
        log = await work_here(agent, instance, folder, ModelService(args=served.args))
    return log.samples[0], served.requests


def results_of(sample: Any) -> list[str]:
    return [m.error.message if m.error else m.text for m in sample.messages if m.role == "tool"]


def stepping(steps: int, command: str = "seq 2000") -> Any:
    """A model that runs a command `steps` times, and answers requests for a summary."""
    done = [0]

    def choose(request: dict[str, Any], count: int) -> Answer:
        size = size_of(request)
        if SUMMARISING in str(request["messages"][-1]):
            return says("Summary: numbers were printed.", input_tokens=size)
        done[0] += 1
        call = Call("submit") if done[0] > steps else Call("bash", {"command": f"{command}; echo {done[0]}"})
        return Answer(calls=(call,), input_tokens=size)

    return choose


@pytest.mark.quick("tiers3")
@pytest.mark.parametrize("tiers", [["clear"], ["summarise"], ["truncate"], ["clear", "summarise", "truncate"]])
async def test_each_tier_keeps_a_long_conversation_below_its_threshold(tiers: list[str], tmp_path: Path) -> None:
    sample, requests = await ended(tmp_path, stepping(20), compaction=tiers, compact_at=16_000)
    assert sample.error is None
    own = [one for one in requests if SUMMARISING not in str(one["messages"][-1])]
    assert len(own) == 21 and max(map(size_of, own)) < 20_000
    assert all("Write hello.txt" in str(one["messages"][1]) for one in own)
    for request in own:
        assert_paired(request["messages"])
    compacted = sum(1 for one in sample.events if one.event == "compaction")
    assert 1 <= compacted <= 6, "a tier must free enough that the next steps do not compact again"


async def test_without_compaction_the_conversation_only_grows(tmp_path: Path) -> None:
    sample, requests = await ended(tmp_path, stepping(6), compaction=[])
    assert sample.error is None
    sizes = list(map(size_of, requests))
    assert sizes == sorted(sizes)


def assert_paired(messages: Sequence[dict[str, Any]]) -> None:
    """Each result follows its call, and each call has its result, as strict services demand."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.discard(message["tool_call_id"])
            continue
        assert not waiting
        waiting = {one["id"] for one in message.get("tool_calls") or []}
    assert not waiting


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3000)), min_size=1, max_size=12), st.integers(400, 6000))
async def test_no_tier_separates_a_result_from_its_call(turns: list[tuple[int, int]], window: int) -> None:
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
    )
    from inspect_ai.tool import ToolCall

    from worksample.agents.compaction_tiers import TieredCompaction

    messages: list[ChatMessage] = [ChatMessageSystem(content="s"), ChatMessageUser(content="brief", source="input")]
    for number, (count, size) in enumerate(turns):
        ids = [f"{number}.{i}" for i in range(count)]
        made = [ToolCall(id=one, function="bash", arguments={}) for one in ids]
        messages.append(ChatMessageAssistant(content="", tool_calls=made))
        messages += [ChatMessageTool(content="x " * size, tool_call_id=one, function="bash") for one in ids]
    found = await TieredCompaction(("clear", "truncate"), window, 3).compact_outcome(
        resolve("mockllm/model", ModelService()), messages, []
    )
    called: set[str] = set()
    for message in found.input:
        if message.role == "assistant":
            called |= {one.id for one in message.tool_calls or []}
        if message.role == "tool":
            assert message.tool_call_id in called
            called.discard(str(message.tool_call_id))
    assert not called
    assert [one.text for one in found.input[:2]] == ["s", "brief"]


def delegating(parent: Sequence[Answer], child: Any) -> Any:
    """A model that answers the parent from a list, and sub-agents by `child(request, number)`."""
    seen = {"parent": 0, "child": 0}

    def choose(request: dict[str, Any], count: int) -> Answer:
        if "report" in tool_names(request):
            seen["child"] += 1
            found: Answer = child(request, seen["child"])
            return found
        seen["parent"] += 1
        return parent[min(seen["parent"], len(parent)) - 1]

    return choose


def delegate(kind: str = "general", task: str = "Count.", **more: Any) -> Answer:
    return calls("delegate", kind=kind, task=task, **more)


async def test_sub_agent_works_apart_and_its_report_is_all_that_the_parent_sees(tmp_path: Path) -> None:
    def child(request: dict[str, Any], number: int) -> Answer:
        return calls("bash", command="echo secret-of-the-child") if number == 1 else calls("report", text="It is 7.")

    sample, requests = await ended(
        tmp_path, delegating([delegate(), calls("submit")], child), subagents=["general", "explore"]
    )
    assert sample.error is None and results_of(sample)[0] == "It is 7."
    parents = [one for one in requests if "report" not in tool_names(one)]
    assert "secret-of-the-child" not in str(parents)
    children = [one for one in requests if "report" in tool_names(one)]
    assert not {"delegate", "submit", "agent_wait"} & tool_names(children[0])
    assert "Write hello.txt" not in str(children[0]["messages"])


async def test_exploring_sub_agent_has_only_tools_that_read(tmp_path: Path) -> None:
    def child(request: dict[str, Any], number: int) -> Answer:
        return calls("list_files", path=str(tmp_path / "input")) if number == 1 else calls("report", text="nothing")

    _, requests = await ended(
        tmp_path, delegating([delegate("explore"), calls("submit")], child), subagents=["explore"]
    )
    own = tool_names(next(one for one in requests if "report" in tool_names(one)))
    assert own == {"read_file", "list_files", "grep", "view_image", "report"}


async def test_sub_agent_that_tries_to_spawn_itself_fails_alone(tmp_path: Path) -> None:
    sample, _ = await ended(
        tmp_path, delegating([delegate(), calls("submit")], lambda r, n: delegate()), subagents=["general"], malformed=3
    )
    assert sample.error is None
    assert "the sub-agent stopped" in results_of(sample)[0] and "could not be read" in results_of(sample)[0]


async def test_context_overflow_of_a_sub_agent_is_told_to_its_parent(tmp_path: Path) -> None:
    def child(request: dict[str, Any], number: int) -> Answer:
        return Answer(calls=(Call("bash", {"command": f"seq {number} 4000"}),), input_tokens=size_of(request))

    sample, _ = await ended(
        tmp_path,
        delegating([delegate(), calls("submit")], child),
        subagents=["general"],
        compaction=["clear"],
        compact_at=9000,
    )
    assert sample.error is None
    assert "no longer fits" in results_of(sample)[0]


async def test_sub_agent_ends_at_its_own_limit_and_the_trial_continues(tmp_path: Path) -> None:
    sample, requests = await ended(
        tmp_path,
        delegating([delegate(), calls("submit")], lambda r, n: calls("bash", command=f"echo {n}")),
        subagents=["general"],
        subagent_turns=4,
    )
    assert sample.error is None and "stopped after 4 model calls" in results_of(sample)[0]
    assert len(requests) == 2 + 4


async def test_steps_of_sub_agents_count_against_the_trials_limit(tmp_path: Path) -> None:
    sample, requests = await ended(
        tmp_path,
        delegating([delegate()], lambda r, n: calls("bash", command=f"echo {n}")),
        Limits(time=60, turns=5),
        subagents=["general"],
    )
    assert "all of its 5 steps" in sample.error.message and len(requests) == 5


async def test_background_sub_agents_are_awaited_listed_and_cancelled(tmp_path: Path) -> None:
    def child(request: dict[str, Any], number: int) -> Answer:
        text = str(request["messages"][1]["content"])
        if "forever" in text:
            return calls("bash", command="sleep 0.2")
        return calls("report", text=f"done: {text}")

    parent = [
        delegate(task="one", background=True),
        delegate(task="forever", background=True),
        delegate(task="three", background=True),
        calls("agent_wait", agent_ids=["AGENT-1", "AGENT-3"]),
        calls("agent_cancel", agent_id="AGENT-2"),
        calls("agent_list"),
        calls("submit"),
    ]
    sample, _ = await ended(tmp_path, delegating(parent, child), subagents=["general"], subagent_turns=10_000)
    told = results_of(sample)
    assert sample.error is None and told[0].startswith("AGENT-1 has begun")
    assert "done: one" in told[3] and "done: three" in told[3]
    assert "cancelled" in told[4]
    assert "AGENT-2** (general) — cancelled" in told[5]


async def test_sub_agent_beyond_the_allowed_number_is_refused_and_left_ones_end_with_the_work(tmp_path: Path) -> None:
    parent = [
        delegate(task="a", background=True),
        delegate(task="b", background=True),
        delegate(task="c", background=True),
        calls("submit"),
    ]
    sample, _ = await ended(
        tmp_path,
        delegating(parent, lambda r, n: calls("bash", command="sleep 0.2")),
        subagents=["general"],
        subagents_at_once=2,
        subagent_turns=10_000,
    )
    assert sample.error is None
    assert "2 sub-agents work already" in results_of(sample)[2]


async def test_long_reports_of_many_sub_agents_do_not_overflow_the_parent(tmp_path: Path) -> None:
    parent = [delegate(task=str(n), background=True) for n in range(3)]
    parent += [calls("agent_wait", agent_ids=["AGENT-1", "AGENT-2", "AGENT-3"]), calls("submit")]
    sample, requests = await ended(
        tmp_path, delegating(parent, lambda r, n: calls("report", text="z" * 400_000)), subagents=["general"]
    )
    assert sample.error is None
    assert max(map(size_of, requests)) < 20_000


async def test_plan_and_memory_are_tools_and_the_prompt_speaks_of_them_only_then(tmp_path: Path) -> None:
    steps = [
        calls("todo_write", todos=[{"content": "write", "status": "in_progress"}]),
        calls("memory", command="create", path="/memories/a.txt", file_text="kept"),
        calls("memory", command="view", path="/memories/a.txt"),
        calls("submit"),
    ]
    sample, requests = await ended(tmp_path / "with", steps, tools=["bash", "plan", "memory"])
    assert sample.error is None and "kept" in results_of(sample)[2]
    assert "Keep a plan" in str(requests[0]["messages"][0]) and "your memory" in str(requests[0]["messages"][0])
    _, plain = await ended(tmp_path / "without", [calls("submit")])
    assert not {"todo_write", "memory", "delegate"} & tool_names(plain[0])
    assert "your memory" not in str(plain[0]["messages"][0])


async def test_model_that_loops_on_one_action_is_told_and_then_stopped(tmp_path: Path) -> None:
    sample, requests = await ended(tmp_path, [calls("bash", command="echo same")], repeats=3)
    assert sample.error is None and len(requests) == 9
    notes = [m.text for m in sample.messages if m.role == "user" and "times in a row" in m.text]
    assert [text[:27] for text in notes] == ["You made the same call 3 ti", "You made the same call 6 ti"]


async def test_two_actions_at_once_are_done_one_after_the_other(tmp_path: Path) -> None:
    file = tmp_path / "order"
    both = Answer(
        calls=(
            Call("bash", {"command": f"sleep 0.3; echo first >> {file}"}),
            Call("bash", {"command": f"echo second >> {file}"}),
        )
    )
    sample, _ = await ended(tmp_path, [both, calls("submit")])
    assert sample.error is None and file.read_text() == "first\nsecond\n"


async def test_result_of_100_mb_reaches_the_model_shortened(tmp_path: Path) -> None:
    sample, requests = await ended(
        tmp_path, [calls("bash", command="head -c 104857600 /dev/zero | tr '\\0' x"), calls("submit")]
    )
    assert sample.error is None
    assert size_of(requests[-1]) < 10_000


def test_default_worker_keeps_its_identity_and_each_part_makes_another_agent() -> None:
    plain = define(harness="worker", model="a/b")
    assert not {"subagents", "compaction", "gui", "repeats", "search_url"} & set(plain.settings)
    parts: list[dict[str, Any]] = [
        {"tools": ["bash", "files"]}, {"tools": ["bash", "plan"]}, {"subagents": ["explore"]}, {"gui": "subagent"},
        {"compaction": ["clear"]}, {"compaction": []}, {"keep_turns": 5}, {"repeats": 5}, {"interfaces": []},
        {"prompt": ["role"]}, {"tell_limits": True}, {"subagents_at_once": 1},
    ]  # fmt: skip
    ids = {define(harness="worker", model="a/b", settings=one).id for one in parts} | {plain.id}
    assert len(ids) == len(parts) + 1
    assert WorkerSettings.model_validate(plain.settings) == WorkerSettings()

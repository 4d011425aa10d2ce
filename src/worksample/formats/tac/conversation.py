"""The conversation that an evaluator of TheAgentCompany receives: a copy's as its argument `trajectory`, the port's
from `trajectory_text`.

Evaluators search this text for addresses of pages that the agent had to visit, and for words that
commands printed. The text here has neither the brief nor other messages to the agent, so that an address in the brief
earns nothing. Addresses are searched for in what the agent visited.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

from worksample.errors import DeliverableError, GraderError
from worksample.kit import Case
from worksample.kit.workplace import SIGN_IN_PROGRAM, Workplace

from .company import AGENT

ORIGINAL_HOST = "the-agent-company.com"
PORT_ORIGINS = {"files": "http://owncloud", "chat": "http://rocketchat:3000"}
"""Service -> the beginning of its addresses in the port's prompts and evaluators."""
FILES_PAGE = "/index.php/apps/files/?dir="
"""Beginning of the address of a folder's page in ownCloud."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


_ACCOUNTS = ("", "-", AGENT, "root")
"""Accounts in the log under which the agent's requests stand; requests without an account have none."""


class TrajectoryUse(IntEnum):
    """Use that an evaluator makes of the conversation."""

    NONE = 0
    SEARCH = 1
    """By `text in trajectory` only."""
    READ = 2
    """In any other way."""


def use_of_conversation(source: str, *, start: str = "grade_checkpoints") -> TrajectoryUse:
    """Return how the function `start` uses its first parameter, here and in the functions that it passes it to.

    An unknown use counts as reading. Raises SyntaxError if the source is not Python.
    """
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, _DEFINITIONS)}
    if start not in functions:
        return TrajectoryUse.NONE
    return _use(functions[start], 0, functions, set())


_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _use(
    function: _Function, position: int, functions: Mapping[str, _Function], seen: set[tuple[int, int]]
) -> TrajectoryUse:
    """Return how a function uses the parameter at `position`."""
    parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if (id(function), position) in seen:
        return TrajectoryUse.NONE
    if position >= len(parameters):
        # Without such a parameter, a call would fail; *arguments could be used in any way.
        return TrajectoryUse.READ if function.args.vararg else TrajectoryUse.NONE
    seen.add((id(function), position))
    name = parameters[position]
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    return max((_use_of_name(node, function, parents, functions, seen) for node in uses), default=TrajectoryUse.NONE)


def _use_of_name(
    node: ast.Name, function: _Function, parents: Mapping[ast.AST, ast.AST], functions: Mapping[str, _Function],
    seen: set[tuple[int, int]],
) -> TrajectoryUse:  # fmt: skip
    parent = parents[node]
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        if parent.func.id == "str":
            return _use_of_place(parent, parents)
        called = _possible_callees(parent.func.id, function, functions)
        if node in parent.args and called:
            return max(_use(one, parent.args.index(node), functions, seen) for one in called)
        return TrajectoryUse.READ
    if isinstance(parent, ast.keyword):
        call = parents[parent]
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        called = _possible_callees(name, function, functions)
        places = [(one, _position(one, parent.arg)) for one in called]
        found = [
            _use(one, place, functions, seen) if place is not None else TrajectoryUse.READ for one, place in places
        ]
        return max(found, default=TrajectoryUse.READ)
    return _use_of_place(node, parents)


def _position(function: _Function, name: str | None) -> int | None:
    parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return parameters.index(name) if name in parameters else None


def _use_of_place(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> TrajectoryUse:
    """Return the use by the expression around `node`: a search, a test for None, or anything else."""
    parent = parents[node]
    if isinstance(parent, ast.Compare) and node in parent.comparators:
        operator = parent.ops[parent.comparators.index(node)]
        return TrajectoryUse.SEARCH if isinstance(operator, ast.In | ast.NotIn) else TrajectoryUse.READ
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Is | ast.IsNot):
        return TrajectoryUse.NONE
    return TrajectoryUse.READ


def _possible_callees(name: str, function: _Function, functions: Mapping[str, _Function]) -> Sequence[_Function]:
    """Return the functions that a name may refer to: a function of the module, or any function that a local variable
    may hold.
    """
    if name in functions:
        return [functions[name]]
    bound = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if name not in bound:
        return []
    called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    held = [node for node in ast.walk(function) if isinstance(node, ast.Name) and id(node) not in called]
    lambdas = [node for node in ast.walk(function) if isinstance(node, ast.Lambda)]
    return [*(functions[node.id] for node in held if node.id in functions), *lambdas]


def is_address(text: str) -> bool:
    """Return whether a searched text is an address or a part of one: it has a slash and no white space."""
    return "/" in text and not any(letter.isspace() for letter in text)


class SearchedTrajectory(str):
    """The text of a trial's actions and their results. A search for an address looks at what the agent visited.

    visited: addresses, or None if they are unknown; then the text is searched. `unknown` becomes True if a search
    needed a conversation that the submission lacks.
    """

    __slots__ = ("has_steps", "unknown", "visited")
    has_steps: bool
    unknown: bool
    visited: str | None

    def __new__(cls, steps: Sequence[Mapping[str, Any]], visited: Iterable[str] | None) -> SearchedTrajectory:
        """Build the text from the steps of a trajectory, without messages to the agent."""
        own = (step for step in steps if step.get("source") not in ("user", "system"))
        made = super().__new__(cls, "\n".join(json.dumps(step, ensure_ascii=False) for step in own))
        made.has_steps, made.unknown = bool(steps), False
        made.visited = None if visited is None else "\n".join(visited)
        return made

    def __str__(self) -> str:
        return self

    def __contains__(self, wanted: object) -> bool:
        if isinstance(wanted, str) and is_address(wanted) and self.visited is not None:
            return wanted in self.visited
        self.unknown |= not self.has_steps
        return isinstance(wanted, str) and super().__contains__(wanted)


def agent_requests(case: Case) -> list[dict[str, Any]] | None:
    """Return the requests that the agent sent to services of the company, from the log of their front door.

    Requests by other accounts, such as colleagues, and those that signed its browser in are left out. None if the
    submission has no such log.
    """
    try:
        found = Workplace(case.folder("exports") / "workplace").requests()
    except (GraderError, DeliverableError):
        return None
    return [one for one in found if one.get("by") in _ACCOUNTS and one.get("program") != SIGN_IN_PROGRAM]


def visited_pages(case: Case, origins: Mapping[str, str]) -> list[str] | None:
    """Return the addresses that the agent visited in its browser or asked a service for; None if the submission has no
    log of requests.

    origins: service -> the address under which the evaluator names its pages.
    """
    seen = [visit.url for visit in case.browsed().visits]
    requests = agent_requests(case)
    return None if requests is None else [*seen, *visited_addresses(requests, origins)]


def visited_addresses(requests: Iterable[Mapping[str, Any]], origins: Mapping[str, str]) -> Iterator[str]:
    """Yield the addresses of pages in a log of requests.

    origins: service -> the beginning of its addresses. A folder's page in the files service also counts under
    ownCloud's own address.
    """
    for one in requests:
        origin, path = origins.get(str(one.get("service"))), str(one.get("path", ""))
        if origin is None or one.get("method") not in ("GET", "HEAD"):
            continue
        yield f"{origin}{path}"
        if one.get("service") == "files" and path.endswith("/") and not path.startswith("/remote.php"):
            yield f"{origin}{FILES_PAGE}{path.removesuffix('/') or '/'}"

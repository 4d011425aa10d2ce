"""Analysis of an evaluator's source: the files, services and modules that it needs, and its points. Nothing is
executed.

Only code that its `build_scorer` can reach counts. Helpers without a caller do not, nor do the branches of the optional
"improved" scoring.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

WORKSPACE, UTILS, DATA = "/workspace", "/utils", "/data"
_SCRIPT = re.compile(r"^python3? - <<", re.MULTILINE)
_IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
_FILE_NAME = re.compile(r"^[^{}*\n]+\.[A-Za-z0-9]{1,5}$")
_SERVICES = {
    "owncloud": ("owncloud", "webdav", "curl", "directory_exists"),
    "rocketchat": ("rocketchat", "chat_history"),
    "gitlab": ("gitlab",),
    "plane": ("plane",),
    "a running RisingWave": ("risingwave",),
}
"""Service -> parts of the names of shared helper functions that call it."""
_JUDGE_FUNCTIONS = {"get_model", "evaluate_chat_history_with_llm", "evaluate_with_llm", "llm_complete"}
_WRITE_FUNCTIONS = {"write_file", "curl_download_in_sandbox"}
_MODULES_OF_HELPERS = {"extract_text_from_odt": "odf"}
"""Shared helper function -> the module that it imports; without the module it finds nothing."""


@dataclass(frozen=True, slots=True)
class EvaluatorNeeds:
    """The needs of one evaluator."""

    files: tuple[str, ...]
    """Files below /workspace, as paths relative to it."""
    references: tuple[str, ...]
    """Files below /utils."""
    outside: tuple[str, ...]
    """Files below /data that the agent has to write."""
    columns: tuple[str, ...]
    """Columns that a deliverable must have."""
    patterns: tuple[str, ...]
    """Regular expressions that a whole line must match."""
    services: tuple[str, ...]
    modules: tuple[str, ...]
    """Modules that the evaluator imports inside functions. It counts a failed import as the agent's failure."""
    annotations: tuple[str, ...]
    """Annotations of inner functions. Before Python 3.14, every call of the outer function evaluates them."""
    points: tuple[int, ...] | None
    """Points of the checkpoints, in order; None if their number is known only at run time."""
    judge: bool
    writes: bool
    """Whether the evaluator writes into /workspace."""
    messages: bool
    """Whether the evaluator reads the conversation."""


def analyse_evaluator(source: str, *, start: str = "build_scorer") -> EvaluatorNeeds:
    """Analyse an evaluator's source. start: the function with which grading begins.

    Raises SyntaxError if the source is not Python.
    """
    tree = ast.parse(source)
    constants = _constants(tree)
    nodes = list(_reachable_nodes(tree, start))
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    texts = list(dict.fromkeys(t for n in nodes if (t := _string_value(n, constants)) is not None))
    called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    methods = {n.func.attr for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    return EvaluatorNeeds(
        files=_files_below(WORKSPACE, texts),
        references=_files_below(UTILS, texts),
        outside=_files_below(DATA, texts),
        columns=tuple(dict.fromkeys(_columns(nodes, constants))),
        patterns=tuple(dict.fromkeys(_patterns(nodes))),
        services=tuple(s for s, marks in _SERVICES.items() if any(m in n for n in called for m in marks)),
        modules=tuple(
            dict.fromkeys((*_modules(nodes), *(_MODULES_OF_HELPERS[n] for n in called if n in _MODULES_OF_HELPERS)))
        ),
        annotations=tuple(dict.fromkeys(_annotations(nodes))),
        points=_points(nodes, constants),
        judge=bool(called & _JUDGE_FUNCTIONS),
        writes=bool((called | methods) & _WRITE_FUNCTIONS),
        messages=bool(names & {"trajectory_text", *(() if start == "build_scorer" else ("trajectory",))}),
    )


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return name -> value of the constants of a module."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    return found


def _reachable_nodes(tree: ast.Module, first: str) -> Iterator[ast.AST]:
    """Yield every node that the function `first` can reach, including the constants that it uses."""
    own: dict[str, ast.AST] = dict(_constants(tree))
    for part in tree.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own[part.name] = part
    waiting, seen = [first], {first}
    while waiting:
        start = own.get(waiting.pop(0))
        for node in () if start is None else _walk(start):
            if isinstance(node, ast.Name) and node.id in own and node.id not in seen:
                seen.add(node.id)
                waiting.append(node.id)
            yield node


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, depth first, without the branches of "improved" scoring."""
    if isinstance(node, ast.If) and _scoring_mode(node.test) not in (None, "original"):
        for child in node.orelse:
            yield from _walk(child)
        return
    if isinstance(node, ast.If) and _scoring_mode(node.test) == "original":
        for child in node.body:
            yield from _walk(child)
        return
    yield node
    for below in ast.iter_child_nodes(node):
        yield from _walk(below)


def _scoring_mode(test: ast.expr) -> str | None:
    """Return the mode in a test `scoring_mode == ...`; None for any other test."""
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "scoring_mode":
        first = test.comparators[0]
        return str(first.value) if isinstance(first, ast.Constant) else None
    return None


def _string_value(node: ast.AST, constants: dict[str, ast.expr], depth: int = 4) -> str | None:
    """Return the string value of a literal, constant, f-string or `os.path.join`; None for any other expression."""
    if depth == 0:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return _string_value(constants[node.id], constants, depth - 1) if node.id in constants else None
    if isinstance(node, ast.FormattedValue):
        return _string_value(node.value, constants, depth - 1)
    if isinstance(node, ast.JoinedStr):
        parts = [_string_value(value, constants, depth - 1) for value in node.values]
        return "".join(p for p in parts if p is not None) if None not in parts else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join" and node.args:
        parts = [_string_value(value, constants, depth - 1) for value in node.args]
        return posixpath.join(*(p for p in parts if p is not None)) if None not in parts else None
    return None


def _files_below(folder: str, texts: list[str]) -> tuple[str, ...]:
    inside = (t.removeprefix(f"{folder}/") for t in texts if t.startswith(f"{folder}/"))
    return tuple(dict.fromkeys(name for name in inside if _FILE_NAME.match(name)))


def _columns(nodes: list[ast.AST], constants: dict[str, ast.expr]) -> Iterator[str]:
    """Yield the items of variables named like `expected_columns`, and of sets that are compared with columns."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and re.search(r"(expected|required)_col", t.id) for t in targets):
                yield from _members(node.value, constants)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            wanted = {"issuperset": node.args, "issubset": [node.func.value]}.get(node.func.attr, [])
            for members in wanted:
                yield from _members(members, constants)


def _members(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    if isinstance(node, ast.Call):
        for argument in node.args:
            yield from _members(argument, constants)
    elif isinstance(node, ast.List | ast.Set | ast.Tuple):
        for item in node.elts:
            text = _string_value(item, constants)
            if text is not None:
                yield text


def _patterns(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fullmatch":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _modules(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SCRIPT.search(node.value):
            yield from (name for name in _IMPORT.findall(node.value) if name not in sys.stdlib_module_names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "import_module":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _annotations(nodes: list[ast.AST]) -> Iterator[str]:
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for outer in functions:
        for inner in ast.walk(outer):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and inner is not outer:
                given = [a.annotation for a in inner.args.args if a.annotation is not None]
                yield from (ast.unparse(a) for a in (*given, *([inner.returns] if inner.returns else [])))


def _points(nodes: list[ast.AST], constants: dict[str, ast.expr]) -> tuple[int, ...] | None:
    """Return each `Checkpoint(total=...)` in order; None if there are none, or their number or a total is not
    constant.
    """
    loops = [n for n in nodes if isinstance(n, ast.For | ast.If | ast.ListComp | ast.GeneratorExp)]
    looped = {id(inner) for loop in loops for inner in ast.walk(loop)}
    totals: list[int] = []
    for node in nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Checkpoint"):
            continue
        given = next((k.value for k in node.keywords if k.arg == "total"), node.args[0] if node.args else None)
        while isinstance(given, ast.Name) and given.id in constants:
            given = constants[given.id]
        if id(node) in looped or not (isinstance(given, ast.Constant) and isinstance(given.value, int)):
            return None
        totals.append(given.value)
    return tuple(totals) or None

"""Write docs/api.md from the signatures and docstrings of what is public. `--check` fails where the page is stale."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

PAGE = Path(__file__).resolve().parent / "api.md"
MODULES = {
    "worksample": "What scripts and notebooks use; [the library](library.md) shows it at work.",
    "worksample.kit": "What a grader is written with; [the kit](kit.md) says how the parts fit together.",
    "worksample.box": "The interface of a sandbox, for a kind of your own; [the sandbox](sandbox.md).",
}
HEAD = """# API reference

This page is made from signatures and docstrings by `docs/build_api.py`. A name that is not here is not public: it may
change without notice. Types are checked: the package carries `py.typed`.
"""
WIDTH = 100


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, says in MODULES.items():
        module = importlib.import_module(name)
        parts += [f"## `{name}`\n", f"{says}\n"]
        for public in sorted(module.__all__, key=str.lower):
            if not public.startswith("_"):
                parts += _entry(public, getattr(module, public))
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if inspect.isclass(value):
        yield from _code(f"class {name}{_signature(value)}")
        yield from _said(value.__doc__)
        lines = [_member(own, member) for own, member in _members(value)]
        yield from [*lines, ""] if lines else []
    elif callable(value):
        yield from _code(f"{'async ' if inspect.iscoroutinefunction(value) else ''}def {name}{_signature(value)}")
        yield from _said(value.__doc__)
    else:
        yield f"`{value!r}`\n" if len(repr(value)) < WIDTH else f"A `{type(value).__name__}`.\n"


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """What a class of ours says of itself, in the order of its source, by way of bases without fields of their own."""
    bases = [
        base
        for base in value.__mro__[1:]
        if vars(base).get("__slots__") == () and base.__module__.startswith("worksample.")
    ]
    own = {name: member for base in (*reversed(bases), value) for name, member in vars(base).items()}
    for name, member in own.items():
        raw = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if not name.startswith("_") and isinstance(raw, FunctionType | property) and raw.__doc__:
            yield name, raw


def _member(name: str, member: Any) -> str:
    doc = " ".join(inspect.cleandoc(member.__doc__ or "").split())
    called = "" if isinstance(member, property) else _signature(member).partition(" -> ")[0]
    return f"- `.{name}{called}`: {doc}"


def _signature(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    kept = [_plain(p) for n, p in found.parameters.items() if n not in ("self", "cls")]
    return str(inspect.Signature(kept, return_annotation=_annotation(found.return_annotation)))


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter whose default says nothing that changes with every run, such as an address in memory."""
    value = parameter.default
    if not (value is parameter.empty or value is None or isinstance(value, str | int | float | bool | tuple)):
        value = _Raw("...")
    return parameter.replace(default=value, annotation=_annotation(parameter.annotation))


def _annotation(value: Any) -> Any:
    """Without what a validator does to it, which shows as an address in memory."""
    if hasattr(value, "__metadata__"):
        value = value.__origin__
    return _Raw(value) if isinstance(value, str) else value


class _Raw:
    """Text that stands in a signature without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _code(text: str) -> Iterator[str]:
    """A signature, one parameter a line where it is long."""
    if len(text) > WIDTH and "(" in text:
        head, _, rest = text.partition("(")
        inner, _, tail = rest.rpartition(")")
        text = f"{head}(\n    " + ",\n    ".join(_split(inner)) + f"\n){tail}"
    yield f"```python\n{text}\n```\n"


def _split(inner: str) -> list[str]:
    """At the commas that separate parameters."""
    out, depth, begun = [], 0, 0
    for place, sign in enumerate(inner):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            out.append(inner[begun:place].strip())
            begun = place + 1
    return [*out, inner[begun:].strip()]


def _said(doc: str | None) -> Iterator[str]:
    if doc:
        yield inspect.cleandoc(doc) + "\n"


def main() -> int:
    """Write the page, or with `--check` compare it."""
    text = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{PAGE} is stale\n  next: python docs/build_api.py\n")
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

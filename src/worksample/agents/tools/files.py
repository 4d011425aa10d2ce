"""Tools that read, write and replace text in files of the box."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from worksample.agents.workspace import Workspace

from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

LARGEST = 10 << 20
"""Maximum size in bytes of a file that is read or changed as text."""


def files(workspace: Workspace) -> list[ToolDef]:
    """Return the tools `read_file`, `write_file` and `replace_in_file`."""
    return [read_file(workspace), write_file(), replace_in_file()]


def read_file(workspace: Workspace) -> ToolDef:
    """Return the tool `read_file`, which shows the lines of a file with their numbers."""

    async def execute(path: str, first: int = 1, last: int | None = None) -> str:
        text = await text_of(path)
        lines = text.splitlines()
        first = max(1, int(first))
        chosen = lines[first - 1 : last]
        return _number_lines(chosen, first, len(lines), workspace.tool_output) or "[empty]"

    return tool_of(
        "read_file",
        "Read a text file as numbered lines. Read binary formats with programs.",
        {
            "path": ("string", "Absolute path of the file.", True),
            "first": ("integer", "First line to show, from 1.", False),
            "last": ("integer", "Last line to show.", False),
        },
        execute,
    )


def _number_lines(lines: list[str], first: int, total: int, size: int) -> str:
    """Return as many numbered lines as fit into a tool result, and a note on how to read the rest."""
    out: list[str] = []
    used = 0
    for number, line in enumerate(lines, first):
        shown = line if len(line) <= size else f"{line[:size]} [... {len(line) - size} characters more]"
        used += len(shown) + 8
        if out and used > size:
            out.append(f"[{total} lines in all; read on with first={number}]")
            break
        out.append(f"{number:>6}\t{shown}")
    return "\n".join(out)


def write_file() -> ToolDef:
    """Return the tool `write_file`, which creates or replaces a file."""

    async def execute(path: str, text: str) -> str:
        await write_to_box(path, text.encode())
        return f"written: {path}, {len(text)} characters"

    return tool_of(
        "write_file",
        "Create or replace a text file, and create its parent folders.",
        {"path": ("string", "Absolute path of the file.", True), "text": ("string", "The whole content.", True)},
        execute,
    )


def write_bytes() -> ToolDef:
    """Return the tool `write_bytes`, which creates or replaces a file from Base64. Scripts use it."""

    async def execute(path: str, data: str) -> str:
        from inspect_ai.tool import ToolError

        try:
            content = base64.b64decode(data, validate=True)
        except ValueError as error:
            raise ToolError(f"data is not Base64: {error}") from error
        await write_to_box(path, content)
        return f"written: {path}, {len(content)} bytes"

    return tool_of(
        "write_bytes",
        "Create or replace a file from Base64.",
        {"path": ("string", "Absolute path.", True), "data": ("string", "Base64 of the content.", True)},
        execute,
    )


def replace_in_file() -> ToolDef:
    """Return the tool `replace_in_file`, which replaces one passage of a file."""

    async def execute(path: str, old: str, new: str) -> str:
        from inspect_ai.tool import ToolError

        text = await text_of(path)
        count = text.count(old) if old else 0
        if count != 1:
            raise ToolError(f"the passage occurs {count} times in {path}; it must occur exactly once")
        await write_to_box(path, text.replace(old, new).encode())
        return f"replaced in {path}"

    return tool_of(
        "replace_in_file",
        "Replace a passage that occurs exactly once in a text file.",
        {
            "path": ("string", "Absolute path of the file.", True),
            "old": ("string", "The passage exactly as in the file, with enough context to be unique.", True),
            "new": ("string", "The new text.", True),
        },
        execute,
    )


async def text_of(path: str) -> str:
    """Read a text file in the box. Raises ToolError, which explains why the file cannot be read."""
    from inspect_ai.tool import ToolError
    from inspect_ai.util import OutputLimitExceededError, sandbox

    try:
        data = await sandbox().read_file(_check_path(path), text=False)
    except IsADirectoryError:
        raise ToolError(f"{path} is a folder") from None
    except FileNotFoundError:
        raise ToolError(f"{path} does not exist") from None
    except PermissionError:
        raise ToolError(f"you have no permission to read {path}") from None
    except OutputLimitExceededError:
        raise ToolError(f"{path} is too large to be read") from None
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise ToolError(f"{path} has {len(data)} bytes; {LARGEST} can be read as text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not UTF-8 text; read it with a program") from None


async def write_to_box(path: str, data: bytes) -> None:
    """Write a file in the box. Raises ToolError, which explains why the file cannot be written."""
    from inspect_ai.tool import ToolError
    from inspect_ai.util import sandbox

    try:
        await sandbox().write_file(_check_path(path), data)
    except IsADirectoryError:
        raise ToolError(f"{path} is a folder") from None
    except PermissionError:
        raise ToolError(f"you have no permission to write {path}") from None
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {error.strerror or error}") from None


def _check_path(path: str) -> str:
    from inspect_ai.tool import ToolError

    if not path or "\0" in path:
        raise ToolError("the path is empty or holds a NUL character")
    return path

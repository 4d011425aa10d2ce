"""Tools that read the web from inside the box, through the endpoints of the task. The platform itself fetches nothing,
so the rules and records of connections hold for these tools as for any program in the box.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
from typing import TYPE_CHECKING, Any

from worksample.agents.workspace import Workspace, clip_middle
from worksample.errors import ForeignInputError
from worksample.files.untrusted import JsonLimits, read_json

from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

SECONDS = 60
SHAPE = JsonLimits(values=2000)
"""Limits on the structure of the reader's JSON answer, which is untrusted."""
RESULTS = 10
"""Maximum number of results of a search that the model sees."""


def has_web(workspace: Workspace) -> bool:
    """Return whether the task's endpoints lead to hosts or services that a page can come from."""
    return any(one.to != "model" for one in workspace.instance.work.environment.endpoints)


def fetch(workspace: Workspace) -> ToolDef:
    """Return the tool `fetch(url, first)`, which shows a web page or a text file as text."""

    async def execute(url: str, first: int = 0) -> str:
        answer = await _ask({"url": url}, workspace)
        first = max(0, int(first))
        text = str(answer["text"])[first:]
        shown = text[: workspace.tool_output]
        rest = len(text) - len(shown)
        more = f"\n[{rest} characters more; read on with first={first + len(shown)}]" if rest else ""
        return f"{answer['url']} ({answer['kind']}, status {answer['status']})\n\n{shown or '[empty]'}{more}"

    return tool_of(
        "fetch",
        f"Read a web page as text. {workspace.network}",
        {
            "url": ("string", "Address that begins with http:// or https://.", True),
            "first": ("integer", "First character to show, from 0, to read on in a long page.", False),
        },
        execute,
    )


def web_search(workspace: Workspace, address: str) -> ToolDef:
    """Return the tool `web_search(query)`, which asks the search service at `address`."""

    async def execute(query: str) -> str:
        answer = await _ask({"url": address, "query": query[:1000]}, workspace)
        rows = answer["results"][:RESULTS]
        lines = [f"{n}. {one['title']}\n   {one['url']}\n   {one['content']}" for n, one in enumerate(rows, 1)]
        return clip_middle("\n".join(lines), workspace.tool_output) or "[no results]"

    return tool_of(
        "web_search",
        "Search the web. The result is a list of titles, addresses and excerpts; read a page with fetch.",
        {"query": ("string", "Words to search for.", True)},
        execute,
    )


@functools.cache
def _source() -> str:
    return importlib.resources.files("worksample.agents.in_box").joinpath("web_reader.py").read_text(encoding="utf-8")


async def _ask(request: dict[str, object], workspace: Workspace) -> dict[str, Any]:
    """Let the reader in the box fetch a page. Raises ToolError if the page cannot be fetched or read."""
    from inspect_ai.tool import ToolError
    from inspect_ai.util import OutputLimitExceededError, sandbox

    given = json.dumps({**request, "seconds": SECONDS})
    try:
        done = await sandbox().exec(
            ["sh", "-c", 'exec python3 -I -c "$READER_SOURCE"'],
            input=given,
            env={"READER_SOURCE": _source()},
            timeout=SECONDS + 15,
            timeout_retry=False,
        )
    except TimeoutError:
        raise ToolError(f"the page did not arrive within {SECONDS} seconds") from None
    except OutputLimitExceededError:
        raise ToolError("the page is too long") from None
    try:
        answer: dict[str, Any] = read_json(done.stdout.encode(errors="surrogatepass"), SHAPE, "the reader's answer")
        fault = answer.get("fault")
    except (ForeignInputError, AttributeError):
        said = clip_middle((done.stderr or done.stdout).strip(), 500)
        raise ToolError(f"pages cannot be read in this sandbox: {said}") from None
    if fault:
        raise ToolError(clip_middle(str(fault), 500))
    return answer

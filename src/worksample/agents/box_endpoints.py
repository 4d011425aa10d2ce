"""How a program in the box finds its model: names and addresses that lead to the trial's door, and no key."""

from __future__ import annotations

from worksample.records import McpSpec

from .workspace import Workspace

MODEL_HOST, MODEL_PORT = "model.internal", 80
BROWSER_HOST, BROWSER_PORT = "browser.internal", 80
KEY = "none-is-needed"
"""What programs send that want a key: the door asks for none."""


def door_name(model: str) -> str:
    """What programs call the model: its name without the provider's."""
    return model.rpartition("/")[2] or model


def door_names(model: str) -> tuple[str, ...]:
    """All that the door takes for the model's name."""
    return tuple(dict.fromkeys((door_name(model), model)))


def door_words(model: str) -> dict[str, str]:
    """What placeholders of a program's settings stand for."""
    return {"model": door_name(model), "door": f"http://{MODEL_HOST}"}


def door_environment(model: str) -> dict[str, str]:
    """What clients of the common providers look for in their environment."""
    base, name = f"http://{MODEL_HOST}", door_name(model)
    return {
        "WORKSAMPLE_MODEL": name,
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_BASE": f"{base}/v1",
        "OPENAI_API_KEY": KEY,
        "OPENAI_MODEL": name,
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_MODEL": name,
        "ANTHROPIC_SMALL_FAST_MODEL": name,
        "GOOGLE_GEMINI_BASE_URL": base,
        "GEMINI_API_KEY": KEY,
        "GEMINI_MODEL": name,
    }


def browser_server(workspace: Workspace) -> tuple[McpSpec, ...]:
    """It, as one more server of the task's; none where the task has no browser."""
    if "browser" not in workspace.instance.work.environment.interfaces:
        return ()
    return (McpSpec(name="browser", url=f"http://{BROWSER_HOST}/mcp"),)

"""Endpoints of the platform in an agent's box: the model gateway, the browser and the desktop."""

from __future__ import annotations

from worksample.records import McpSpec

from .workspace import Workspace

MODEL_HOST, MODEL_PORT = "model.internal", 80
BROWSER_HOST, BROWSER_PORT = "browser.internal", 80
DESKTOP_HOST, DESKTOP_PORT = "desktop.internal", 80
KEY = "none-is-needed"
"""API key for programs that require a key. The model gateway ignores its value."""


def gateway_model_name(model: str) -> str:
    """Return the name by which programs call the model at the gateway: the model's name without its provider."""
    return model.rpartition("/")[2] or model


def gateway_model_names(model: str) -> tuple[str, ...]:
    """Return all names under which the model gateway accepts requests for the model."""
    return tuple(dict.fromkeys((gateway_model_name(model), model)))


def model_placeholders(model: str) -> dict[str, str]:
    """Return the values of the placeholders for the model and the gateway in a program's settings."""
    return {"model": gateway_model_name(model), "door": f"http://{MODEL_HOST}"}


def model_environment(model: str) -> dict[str, str]:
    """Return environment variables with the gateway's address and key, as the clients of common providers read them."""
    base, name = f"http://{MODEL_HOST}", gateway_model_name(model)
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


def interface_servers(workspace: Workspace) -> tuple[McpSpec, ...]:
    """Return the MCP servers of the task's browser and desktop; empty if the task has neither."""
    hosts = {"browser": BROWSER_HOST, "desktop": DESKTOP_HOST}
    interfaces = workspace.instance.work.environment.interfaces
    return tuple(McpSpec(name=name, url=f"http://{host}/mcp") for name, host in hosts.items() if name in interfaces)

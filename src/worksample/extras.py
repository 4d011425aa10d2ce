"""Optional extras: find missing ones, and name the command that installs them."""

from __future__ import annotations

from importlib.util import find_spec

from .errors import MissingExtra

EXTRAS = {
    "report": ("scipy", "matplotlib"),
    "review": ("argon2", "uvloop"),
    "mcp": ("mcp",),
    "pii": ("presidio_analyzer", "faker"),
    "docker": ("docker",),
    "browser": ("playwright",),
    "workplace": ("copyparty", "radicale"),
    "clusters": ("scipy", "safetensors", "tokenizers", "httpx"),
}
"""Extra -> modules that only it brings."""


def lacks(extra: str) -> tuple[str, ...]:
    """Return the modules of an extra that are not installed."""
    return tuple(name for name in EXTRAS[extra] if find_spec(name) is None)


def need(extra: str) -> None:
    """Raise MissingExtra if a module of the extra is not installed."""
    missing = lacks(extra)
    if missing:
        raise MissingExtra(
            f"the extra {extra!r} of worksample is needed, but not installed ({', '.join(missing)})",
            next=f"pip install 'worksample[{extra}]'",
        )

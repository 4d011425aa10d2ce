"""What stands in for what a task would fetch from elsewhere: `uv` by curl becomes PyPI's `uv`."""

from __future__ import annotations

import re

WITHOUT_INTERNET = "no network for the whole internet"
TAG = "substituted: {}"
"""How a package tells what was changed."""
_UV = re.compile(r"(?:curl|wget)\s[^|&;\n]*astral\.sh/uv[^|&;\n]*\|\s*(?:env\s+\S+\s+)?(?:ba)?sh(?:\s+-s\S*)?")
_OWN = (
    'python3 -m pip install --quiet --break-system-packages uv && mkdir -p "$HOME/.local/bin" && '
    ': > "$HOME/.local/bin/env"'
)


def with_own_uv(script: str) -> tuple[str, bool]:
    """A script or Dockerfile in which `uv` comes from PyPI, and whether anything was changed.

    The installer's `~/.local/bin/env`, which scripts read after it, is there and empty.
    """
    changed, count = _UV.subn(f"{{ {_OWN}; }}", script)
    return changed, count > 0

"""Substitutes for downloads during a task: `uv` by curl becomes PyPI's `uv`."""

from __future__ import annotations

import re

WITHOUT_INTERNET = "no network for the whole internet"
TAG = "substituted: {}"
"""Tag of a package that names a substitution."""
_UV = re.compile(r"(?:curl|wget)\s[^|&;\n]*astral\.sh/uv[^|&;\n]*\|\s*(?:env\s+\S+\s+)?(?:ba)?sh(?:\s+-s\S*)?")
_OWN = (
    'python3 -m pip install --quiet --break-system-packages uv && mkdir -p "$HOME/.local/bin" && '
    ': > "$HOME/.local/bin/env"'
)


def with_own_uv(script: str) -> tuple[str, bool]:
    """Return a script or Dockerfile with `uv` from PyPI, and whether anything was changed.

    The installer's `~/.local/bin/env`, which scripts read afterwards, exists and is empty.
    """
    changed, count = _UV.subn(f"{{ {_OWN}; }}", script)
    return changed, count > 0

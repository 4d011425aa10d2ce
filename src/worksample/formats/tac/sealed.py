"""Evaluators that are encrypted, as in TheAgentCompany's images: by Fernet, with a key that it publishes."""

from __future__ import annotations

import base64
import importlib.util
from pathlib import Path

from worksample.errors import ImportFailed

KEY = "theagentcompany is all you need"
"""Of https://github.com/TheAgentCompany/TheAgentCompany: it keeps crawlers out, nobody else."""
SEALED = "evaluator.py.enc"
CLONE = "git clone https://github.com/TheAgentCompany/TheAgentCompany"
"""What brings a copy that is whole."""


def opened(path: Path) -> str:
    """The source of an encrypted evaluator. ImportFailed."""
    if importlib.util.find_spec("cryptography") is None:
        what = "the evaluator is encrypted, and the package that opens it is missing"
        raise ImportFailed(what, where=str(path), next="pip install cryptography")
    from cryptography.fernet import Fernet, InvalidToken

    padded = KEY.encode().ljust(32, b"\0")[:32]
    try:
        return Fernet(base64.urlsafe_b64encode(padded)).decrypt(path.read_bytes()).decode("utf-8")
    except (InvalidToken, UnicodeDecodeError, OSError) as fault:
        what = f"the evaluator is encrypted, and not by the published key: {type(fault).__name__}"
        raise ImportFailed(what, where=str(path), next=CLONE) from fault

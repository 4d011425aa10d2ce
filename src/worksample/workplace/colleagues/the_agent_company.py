"""Import of the colleagues of TheAgentCompany, from `scenarios.json` of the original or from `npcs` in the port's
eval.yaml.

Both formats contain prose for a model and no rules. So a model or a person must play these colleagues, and an audit has
no marks to search for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from worksample.ascii_names import plain_letters
from worksample.errors import ManifestError

from .colleague_profile import Colleague

MEND = "correct the file by TheAgentCompany's format, or take it from the original repository"


def read_scenarios(data: bytes, *, where: str = "scenarios.json") -> tuple[Colleague, ...]:
    """Return the colleagues of `scenarios.json`: `{"Li Ming": {"extra_info": "...", "strategy_hint": "..."}}`. Raises
    ManifestError.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise ManifestError("the file is not JSON", where=where, next=MEND) from None
    if not isinstance(found, dict):
        raise ManifestError("the file is not an object with an entry per person", where=where, next=MEND)
    return tuple(_of_scenario(name, one, where) for name, one in found.items())


def _of_scenario(name: str, one: object, where: str) -> Colleague:
    if not isinstance(one, Mapping) or not all(isinstance(text, str) for text in one.values()):
        raise ManifestError(f"{name}: is not an object of texts", where=where, next=MEND)
    if strange := sorted(one.keys() - {"extra_info", "strategy_hint"}):
        raise ManifestError(f"{name}.{strange[0]}: is neither extra_info nor strategy_hint", where=where, next=MEND)
    return Colleague(
        id=account_of(name), name=name, backing="model",
        strategy="\n".join(text for text in (one.get("extra_info", ""), one.get("strategy_hint", "")) if text),
    )  # fmt: skip


def read_npcs(npcs: object, *, where: str = "eval.yaml") -> tuple[Colleague, ...]:
    """Return the colleagues of `npcs`: `[{username, system_prompt, password?}]`. Raises ManifestError."""
    if not isinstance(npcs, list | tuple):
        raise ManifestError("npcs: is not a list", where=where, next=MEND)
    return tuple(_of_npc(number, one, where) for number, one in enumerate(npcs))


def _of_npc(number: int, one: object, where: str) -> Colleague:
    given: Mapping[str, Any] = one if isinstance(one, Mapping) else {}
    name, prompt = given.get("username"), given.get("system_prompt")
    if not isinstance(name, str) or not name.strip() or not isinstance(prompt, str) or not prompt.strip():
        raise ManifestError(f"npcs[{number}]: username and system_prompt must both be texts", where=where, next=MEND)
    named = re.match(r"You are ([^,.]+),\s*([^.]*?)(?: at [^.]*)?\.", prompt.strip())
    return Colleague(
        id=account_of(name), name=named[1].strip() if named else name, role=named[2].strip() if named else "",
        strategy=prompt.strip(), backing="model",
    )  # fmt: skip


def account_of(name: str) -> str:
    """Return the account name for a person's name: `Li Ming` becomes `li_ming`. Raises ManifestError if the name gives
    no valid account name.
    """
    found = re.sub(r"[^a-z0-9]+", "_", plain_letters(name).casefold()).strip("_")
    if not found or not found[0].isalpha():
        raise ManifestError(f"no account name can be made of {name!r}", next="give it a name with a letter first")
    return found[:40]

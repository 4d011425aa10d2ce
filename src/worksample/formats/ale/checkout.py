"""A user's checkout of ALE's public repository: its packages, their cards, and the lists of tiers.

tasks/DOMAIN/TASK/        main.py, task_card.json, scripts/
selected_tasks/full/      a list of packages per tier

Nothing of the checkout is executed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.errors import ForeignInputError, UsageError
from worksample.files.untrusted.json_limits import JsonLimits, read_json

CLONE_COMMAND = "git clone https://github.com/rdi-berkeley/agents-last-exam"
TIERS = Path("selected_tasks/full")
CARD = "task_card.json"
_CARD_LIMITS = JsonLimits(size=4 << 20, values=20_000, depth=32)


@dataclass(frozen=True, slots=True)
class AlePackage:
    """A package of a checkout."""

    domain: str
    name: str
    folder: Path
    tiers: tuple[str, ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)
    """The card as JSON; empty if the package has none or it cannot be read."""
    card_fault: str = ""
    """Why the card cannot be read; "" if it can."""

    @property
    def place(self) -> str:
        """The package's name in messages and lists: `DOMAIN/TASK`."""
        return f"{self.domain}/{self.name}"

    @property
    def snapshot(self) -> str:
        """The machine image that the card names, such as `cpu-free-ubuntu`; "" if it names none."""
        machine = self.card.get("vm")
        found = machine.get("snapshot") if isinstance(machine, dict) else None
        return found if isinstance(found, str) else ""

    def text(self, name: str) -> str:
        """Return a text of the card, or ""."""
        found = self.card.get(name)
        return found if isinstance(found, str) else ""


def read_checkout(checkout: Path, tier: str = "") -> list[AlePackage]:
    """Return the packages of a checkout in alphabetical order; with a tier, only those on its list.

    Raises UsageError if the folder is no checkout, or there is no such tier.
    """
    mains = sorted((checkout / "tasks").glob("*/*/main.py"))
    if not mains or not (checkout / "tasks" / "common_config.py").is_file():
        raise UsageError(
            "this is not a checkout of Agents' Last Exam, which contains tasks/common_config.py and tasks/*/*/main.py",
            where=str(checkout), next=CLONE_COMMAND,
        )  # fmt: skip
    tiers = read_tiers(checkout)
    if tier and tier not in tiers:
        have = ", ".join(tiers) or f"no lists in {TIERS}"
        raise UsageError(f"there is no tier {tier!r}; there are {have}", next=f"worksample import ale {checkout}")
    found = [_read_package(main.parent, tiers) for main in mains]
    return [package for package in found if not tier or tier in package.tiers]


def read_tiers(checkout: Path) -> dict[str, frozenset[str]]:
    """Return tier -> the packages on its list."""
    found = {}
    for path in sorted((checkout / TIERS).glob("*.txt")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        found[path.stem] = frozenset(line.split("#")[0].strip() for line in lines) - {""}
    return found


def _read_package(folder: Path, tiers: Mapping[str, frozenset[str]]) -> AlePackage:
    domain, name = folder.parts[-2:]
    place = f"{domain}/{name}"
    card, fault = _read_card(folder / CARD)
    return AlePackage(
        domain, name, folder, tuple(tier for tier, places in tiers.items() if place in places), card, fault
    )


def _read_card(path: Path) -> tuple[Mapping[str, Any], str]:
    """Return the card and "", or an empty card and why it cannot be read."""
    if not path.is_file():
        return {}, f"has no {CARD}"
    try:
        found = read_json(path.read_bytes(), _CARD_LIMITS, CARD)
    except ForeignInputError as fault:
        return {}, fault.what
    if not isinstance(found, dict):
        return {}, f"{CARD} is not an object"
    return found, ""

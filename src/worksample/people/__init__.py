"""Work by people: accounts, rounds, queues, drafts, verdicts. No HTTP in it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .account import Account, Role
    from .accounts import Accounts
    from .config import Gold, PeopleRound
    from .dashboard import Leniency, PositionBias, Progress, Throughput
    from .exporting import export_jsonl, export_precomputed
    from .faults import Conflict, Denied, InvalidAnswer, NotReady, NotYours
    from .importing import import_judgments
    from .instructions import Instructions, read_folder, read_kept, shipped
    from .item import Draft, Item, Pane
    from .people import People
    from .pilot import Pilot, pilots
    from .profile import Profile, profile_of
    from .protocol import SPECS, Ask, Form, Kind, Spec
    from .queues import Queue
    from .quiz import GoldResult
    from .verdicts import DecidedBy, Final, false_negatives, final_verdicts, preferences

# SQLAlchemy and argon2 take a while to import, so they wait until one of these is wanted.
_HOMES = {
    "account": "Account Role",
    "accounts": "Accounts",
    "config": "Gold PeopleRound",
    "dashboard": "Leniency PositionBias Progress Throughput",
    "exporting": "export_jsonl export_precomputed",
    "faults": "Conflict Denied InvalidAnswer NotReady NotYours",
    "importing": "import_judgments",
    "instructions": "Instructions read_folder read_kept shipped",
    "item": "Draft Item Pane",
    "people": "People",
    "pilot": "Pilot pilots",
    "profile": "Profile profile_of",
    "protocol": "SPECS Ask Form Kind Spec",
    "queues": "Queue",
    "quiz": "GoldResult",
    "verdicts": "DecidedBy Final false_negatives final_verdicts preferences",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

# fmt: off
__all__ = [
    "SPECS", "Account", "Accounts", "Ask", "Conflict", "DecidedBy", "Denied", "Draft", "Final", "Form", "Gold",
    "GoldResult", "Instructions", "InvalidAnswer", "Item", "Kind", "Leniency", "NotReady", "NotYours", "Pane", "People",
    "PeopleRound", "Pilot", "PositionBias", "Profile", "Progress", "Queue", "Role", "Spec", "Throughput",
    "export_jsonl", "export_precomputed", "false_negatives", "final_verdicts", "import_judgments", "pilots",
    "preferences", "profile_of", "read_folder", "read_kept", "shipped",
]
# fmt: on


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOME[name]}", __name__), name)

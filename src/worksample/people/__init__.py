"""Work by people: accounts, rounds, queues, drafts, verdicts. No HTTP in it."""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .account import Account, Role
    from .accounts import Accounts
    from .background import Background, backgrounds
    from .config import Gold, PeopleRound
    from .dashboard import Leniency, PositionBias, Progress, Throughput
    from .exporting import export_csv, export_jsonl, export_parquet, export_precomputed
    from .faults import Conflict, Denied, FaultyRows, InvalidAnswer, NotReady, NotYours
    from .flags import FLAGS, Flag
    from .importing import import_judgments
    from .instructions import Instructions, read_folder, read_kept, shipped
    from .item import Draft, Item, Pane
    from .names import refuse_votes_at_work, show_names
    from .people import People
    from .pilot import Pilot, pilots
    from .presence import Invitation, ends_at, invitations, last_active
    from .profile import Profile, profile_of
    from .protocol import SPECS, Ask, Form, Kind, Spec
    from .queues import Queue
    from .quiz import GoldResult
    from .standing import Standing
    from .verdicts import DecidedBy, Final, false_negatives, final_verdicts, preferences

# fmt: off
__all__ = [
    "FLAGS", "SPECS", "Account", "Accounts", "Ask", "Background", "Conflict", "DecidedBy", "Denied", "Draft",
    "FaultyRows", "Final", "Flag", "Form", "Gold", "GoldResult", "Instructions", "InvalidAnswer", "Invitation", "Item",
    "Kind", "Leniency", "NotReady", "NotYours", "Pane", "People", "PeopleRound", "Pilot", "PositionBias", "Profile",
    "Progress", "Queue", "Role", "Spec", "Standing", "Throughput", "backgrounds", "ends_at", "export_csv",
    "export_jsonl", "export_parquet", "export_precomputed", "false_negatives", "final_verdicts", "import_judgments",
    "invitations", "last_active", "pilots", "preferences", "profile_of", "read_folder", "read_kept",
    "refuse_votes_at_work", "shipped", "show_names",
]
# fmt: on

# SQLAlchemy and argon2 take a while to import, so they wait until one of these is wanted.
__getattr__ = lazily(__name__)

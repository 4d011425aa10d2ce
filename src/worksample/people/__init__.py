"""Work by people: accounts, rounds, queues, drafts, verdicts. No HTTP in it."""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .access.account import Account, Role
    from .access.accounts import Accounts
    from .access.presence import Invitation, ends_at, invitations, last_active
    from .access.profile import Profile, profile_of
    from .access.shown_names import look_at_submission, refuse_votes_at_work, show_names
    from .amending import amend, strike_findings, withdraw
    from .faults import Conflict, Denied, FaultyRows, InvalidAnswer, NotReady, NotYours
    from .people import People
    from .quality.background import Background, backgrounds
    from .quality.dashboard import Leniency, PositionBias, Progress, Throughput
    from .quality.flags import FLAGS, Flag, all_flags, close_flag, raise_flag
    from .quality.gold_items import GoldResult, gold_results
    from .rounds.config import Gold, PeopleRound
    from .rounds.instructions import Instructions, read_folder, read_kept, shipped
    from .rounds.opening import top_up
    from .rounds.pilot import Pilot, pilots
    from .rounds.protocol import SPECS, Ask, Form, Kind, Spec
    from .rounds.queues import Queue, list_queues, set_state
    from .rounds.stocking import restock
    from .rubrics.versions import Version, save_version
    from .transfer.exporting import export_csv, export_jsonl, export_parquet, export_precomputed
    from .transfer.importing import import_judgments
    from .verdicts import DecidedBy, Final, false_negatives, final_verdicts, preferences
    from .work.item import Draft, Item, Pane
    from .work.own_queues import OwnQueue, own_queues

# fmt: off
__all__ = [
    "FLAGS", "SPECS", "Account", "Accounts", "Ask", "Background", "Conflict", "DecidedBy", "Denied", "Draft",
    "FaultyRows", "Final", "Flag", "Form", "Gold", "GoldResult", "Instructions", "InvalidAnswer", "Invitation", "Item",
    "Kind", "Leniency", "NotReady", "NotYours", "OwnQueue", "Pane", "People", "PeopleRound", "Pilot", "PositionBias",
    "Profile", "Progress", "Queue", "Role", "Spec", "Throughput", "Version", "all_flags", "amend", "backgrounds",
    "close_flag", "ends_at", "export_csv", "export_jsonl", "export_parquet", "export_precomputed", "false_negatives",
    "final_verdicts", "gold_results", "import_judgments", "invitations", "last_active", "list_queues",
    "look_at_submission", "own_queues", "pilots", "preferences", "profile_of", "raise_flag", "read_folder", "read_kept",
    "refuse_votes_at_work", "restock", "save_version", "set_state", "shipped", "show_names",
    "strike_findings", "top_up", "withdraw",
]
# fmt: on

# SQLAlchemy and argon2 take a while to import, so they wait until one of these is wanted.
__getattr__ = lazily(__name__)

"""People over a store: the objects that know its clock, each with its own verbs. No HTTP in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.records import Round

from .access.account import Account, Role
from .access.accounts import Accounts
from .clock import Clock, wall
from .judging.answer_submission import ItemJudging
from .judging.drafts import Drafting
from .judging.item_leases import Leasing
from .judging.person_queues import has_read
from .rounds import open_round as opening
from .rounds.instructions import Instructions, shipped
from .rounds.round_config import PeopleRound

if TYPE_CHECKING:
    from worksample.store import Store


class People:
    """Any number of threads, processes and machines over one store may each have one; it keeps nothing itself.

    `accounts`: who may come in. `leasing`: who has which item. `drafting`: items as people see them, and what is not
    handed in yet. `judging`: what was handed in. What needs only a store is a function of this package.
    `clock`: microseconds since 1970; the machine's own unless given. Raises what the modules say: Denied, NotYours,
    Conflict, NotReady, InvalidAnswer (all UsageError), PlanError, RecordMissing, StoreError.
    """

    def __init__(self, store: Store, *, clock: Clock = wall, instructions: Instructions | None = None) -> None:
        self.store, self.clock = store, clock
        self.instructions = instructions or shipped()
        self.accounts = Accounts(store, clock)
        self.leasing = Leasing(store, clock)
        self.drafting = Drafting(store, clock, self.leasing)
        self.judging = ItemJudging(store, clock, self.leasing, self.drafting)

    def open_people_round(self, config: PeopleRound, by: Account | None = None) -> Round:
        """Open a round under these instructions; `by`: an admin, None the store's owner."""
        if by is not None:
            by.may(Role.ADMIN)
        author = f"person-{by.id}" if by is not None else "owner"
        return opening.open_people_round(self.store, config, self.instructions, author=author, clock=self.clock)

    def read_training(self, account: Account) -> None:
        """Note that the person has read the instructions in force."""
        self.drafting.read_training(account, self.instructions.digest)

    def has_read_training(self, account: Account) -> bool:
        """Whether the person has read the instructions in force."""
        return has_read(self.store, account, self.instructions.digest)

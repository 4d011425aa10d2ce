"""Entry point to work by people over a store, with its clock. No HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.records import Round

from .access.account import Account, Role
from .access.sign_in import Accounts
from .clock import Clock, now_in_microseconds
from .judging.answer_submission import AnswerSubmission
from .judging.drafts import Drafts
from .judging.item_leases import ItemLeases
from .judging.person_queues import has_read
from .rounds import open_round as opening
from .rounds.instructions import Instructions, shipped_instructions
from .rounds.round_config import PeopleRound

if TYPE_CHECKING:
    from worksample.store import Store


class People:
    """Services for people over one store. It holds no state, so threads, processes and machines may each have one.

    `accounts`: sign-in. `leasing`: who has which item. `drafting`: items as people see them, and unsubmitted drafts.
    `judging`: submitted answers. Functions that need only a store are in this package. `clock`: microseconds since
    1970, by default the machine's; it times leases and work. `dates`: the clock that dates answers, by default `clock`;
    scripted experts, whose minutes pass in an instant, have two. Raises Denied, NotYours, Conflict, NotReady,
    InvalidAnswer (all UsageError), PlanError, RecordMissing, StoreError, as each method says.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = now_in_microseconds,
        dates: Clock | None = None,
        instructions: Instructions | None = None,
    ) -> None:
        self.store, self.clock = store, clock
        self.instructions = instructions or shipped_instructions()
        self.accounts = Accounts(store, clock)
        self.leasing = ItemLeases(store, clock)
        self.drafting = Drafts(store, clock, self.leasing)
        self.judging = AnswerSubmission(store, clock, self.leasing, self.drafting, dates=dates or clock)

    def open_people_round(self, config: PeopleRound, by: Account | None = None) -> Round:
        """Open a round under these instructions. `by`: an admin, None for the store's owner."""
        if by is not None:
            by.may(Role.ADMIN)
        author = f"person-{by.id}" if by is not None else "owner"
        return opening.open_people_round(self.store, config, self.instructions, author=author, clock=self.clock)

    def read_training(self, account: Account) -> None:
        """Record that the person has read the instructions in force."""
        self.drafting.read_training(account, self.instructions.digest)

    def has_read_training(self, account: Account) -> bool:
        """Tell whether the person has read the instructions in force."""
        return has_read(self.store, account, self.instructions.digest)

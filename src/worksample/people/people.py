"""People over a store: one object with all of the verbs. No HTTP in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from worksample.records import Action, Amendment, Criteria, Evaluation, Evaluator, Round, Target

from . import amending
from .access import shown_names
from .access.account import Account, Role
from .access.accounts import Accounts
from .access.profile import Profile, profile_of
from .clock import Clock, wall
from .quality import dashboard, flags, gold_items
from .rounds import opening, queues, stocking
from .rounds.config import PeopleRound
from .rounds.instructions import Instructions, shipped
from .rubrics import versions
from .rubrics.versions import Version
from .verdicts import Final, false_negatives, final_verdicts, preferences
from .work.drafting import Drafting
from .work.item import Draft, Item
from .work.judging import Judging
from .work.leasing import Leasing
from .work.standing import Standing, has_read, standings

if TYPE_CHECKING:
    import polars as pl

    from worksample.metrics import Agreement, Estimate
    from worksample.store import Store


class People:
    """Any number of threads, processes and machines over one store may each have one; it keeps nothing itself.

    `clock`: microseconds since 1970; the machine's own unless given. Raises what the modules say: Denied, NotYours,
    Conflict, NotReady, InvalidAnswer (all UsageError), PlanError, RecordMissing, StoreError.
    """

    def __init__(self, store: Store, *, clock: Clock = wall, instructions: Instructions | None = None) -> None:
        self.store, self._clock = store, clock
        self.instructions = instructions or shipped()
        self.accounts = Accounts(store, clock)
        self._leasing = Leasing(store, clock)
        self._drafting = Drafting(store, clock, self._leasing)
        self._judging = Judging(store, clock, self._leasing, self._drafting)

    # -- accounts

    def invite(self, roles: Collection[str], by: Account | None = None) -> str:
        """A token for a new account; see `Accounts`."""
        return self.accounts.invite(roles, by)

    def revoke(self, id: str, by: Account | None = None) -> None:
        """Take an invitation back; see `Accounts`."""
        self.accounts.revoke(id, by)

    def invited(self, token: str) -> tuple[frozenset[Role], int]:
        """What an invitation is for, and until when it is good."""
        return self.accounts.invited(token)

    def accept(self, token: str, name: str, password: str | None) -> Account:
        """Make the account that a token invites to."""
        return self.accounts.accept(token, name, password)

    def login(self, name: str, password: str) -> str:
        """A session's token."""
        return self.accounts.login(name, password)

    def session(self, token: str) -> Account | None:
        """Whose session it is."""
        return self.accounts.session(token)

    def logout(self, token: str) -> None:
        """End a session."""
        self.accounts.logout(token)

    def one_time_link(self, name: str, by: Account | None = None) -> str:
        """A token that opens one session."""
        return self.accounts.one_time_link(name, by)

    def redeem(self, token: str) -> str:
        """A session's token for a one-time link's."""
        return self.accounts.redeem(token)

    def set_profile(self, account: Account, profile: Profile) -> Account:
        """Judge under a new version of the person's Evaluator record."""
        return self.accounts.set_profile(account, profile)

    def profile(self, account: Account) -> Profile:
        """The version under which the person judges now."""
        found = self.store.find(Evaluator, id=account.evaluator)
        return profile_of(found[0]) if found else Profile()

    # -- rounds

    def open_people_round(self, config: PeopleRound, by: Account | None = None) -> Round:
        """Open a round; `by`: an admin, None the store's owner."""
        if by is not None:
            by.may(Role.ADMIN)
        author = f"person-{by.id}" if by is not None else "owner"
        return opening.open_people_round(self.store, config, self.instructions, author=author, clock=self._clock)

    def top_up(self, round: str) -> int:
        """Items for submissions that came since; returns how many."""
        return opening.top_up(self.store, round)

    def restock(self, round: str) -> int:
        """Make a round's queue anew where the database was lost; returns how many items came in."""
        return stocking.stock(self.store, self.store.get(Round, round), self._clock())

    def set_state(self, round: str, state: str, by: Account | None = None) -> None:
        """Open, pause or close a queue."""
        if by is not None:
            by.may(Role.ADMIN)
        queues.set_state(self.store, round, state)

    def rounds(self) -> list[queues.Queue]:
        """All queues, by the time they were opened."""
        with self.store.database.reading() as connection:
            return queues.all_queues(connection)

    # -- work

    def standings(self, account: Account) -> list[Standing]:
        """What there is to do for a person, queue by queue."""
        return standings(self.store, account)

    def claim(self, account: Account, round: str | None = None, *, ahead: bool = False) -> Item | None:
        """The item that the person has open, else the next one; None where there is none. `ahead`: one more."""
        return self._drafting.claim(account, round, ahead=ahead)

    def item(self, account: Account, id: str) -> Item:
        """One of the person's own."""
        return self._drafting.item(account, id)

    def heartbeat(self, item: str, account: Account) -> int:
        """Keep it; returns until when."""
        return self._leasing.heartbeat(item, account)

    def release(self, item: str, account: Account) -> None:
        """Give it back."""
        self._leasing.release(item, account)

    def save_draft(
        self, item: str, account: Account, revision: int, payload: Mapping[str, Any], active_seconds: float = 0.0
    ) -> Draft:
        """Keep what was written so far."""
        return self._drafting.save(item, account, revision, payload, active_seconds)

    def hidden_words(self, item: str, account: Account) -> tuple[str, ...]:
        """Names that must not be read near one of the person's items: for `blinding.scrub`, never for the browser."""
        return self._drafting.hidden_words(item, account)

    def mark_seen(self, item: str, account: Account, pane: str, path: str) -> None:
        """Note that a file was opened."""
        self._drafting.mark_seen(item, account, pane, path)

    def submit(
        self, item: str, account: Account, payload: Mapping[str, Any], key: str, active_seconds: float = 0.0
    ) -> Evaluation:
        """Hand in an answer."""
        return self._judging.submit(item, account, payload, key, active_seconds)

    def skip(self, item: str, account: Account, reason: str) -> Evaluation:
        """Leave it to others."""
        return self._judging.skip(item, account, reason)

    def take_back(self, item: str, account: Account) -> None:
        """Have a skipped item again, as long as nobody else has taken it."""
        self._leasing.take_back(item, account)

    def answered(self, item: str, account: Account) -> Evaluation:
        """What the person said of an item, or why it was skipped."""
        return self._judging.answered(item, account)

    def flag(self, item: str, account: Account, kind: str, text: str) -> None:
        """Tell the admin that something is wrong with it."""
        flags.raise_flag(self.store, item, account, kind, text, clock=self._clock)

    def flags(self) -> list[flags.Flag]:
        """All flags, the latest first."""
        return flags.flags(self.store)

    def close_flag(self, by: Account, id: str, note: str) -> None:
        """Say what became of a flag."""
        flags.close_flag(self.store, by, id, note, clock=self._clock)

    def history(self, account: Account) -> list[dict[str, Any]]:
        """The person's own items, the latest first."""
        return self._drafting.history(account)

    def read_training(self, account: Account) -> None:
        """Note that the person has read the instructions in force."""
        self._drafting.read_training(account, self.instructions.digest)

    def has_read_training(self, account: Account) -> bool:
        """Whether the person has read the instructions in force."""
        return has_read(self.store, account, self.instructions.digest)

    def quiz_answer(self, item: str, account: Account) -> dict[str, Any]:
        """How an answered calibration item should have been judged."""
        return self._judging.quiz_answer(item, account)

    def earlier(self, item: str, account: Account) -> list[dict[str, Any]]:
        """What others said before, once the own answer is in."""
        return self._judging.earlier(item, account)

    # -- rubrics

    def now(self) -> int:
        """Microseconds since 1970, by the clock of all that is kept here."""
        return self._clock()

    def save_rubric(
        self, by: Account, rubric: str, criteria: Criteria, *, over: int, reason: str, suggestions: Collection[str] = ()
    ) -> Version:
        """Add a version after `over`; `suggestions`: of models, of which it has criteria."""
        return versions.save(
            self.store, by, rubric, criteria, over=over, reason=reason, clock=self._clock, suggestions=suggestions
        )

    # -- administration

    def progress(self, round: str) -> dashboard.Progress:
        """How far the queue is."""
        return dashboard.progress(self.store, round)

    def agreement(self, round: str) -> Agreement:
        """How far the votes agree."""
        return dashboard.agreement(self.store, round)

    def leniency(self, round: str) -> list[dashboard.Leniency]:
        """Who lets how much pass."""
        return dashboard.leniency(self.store, round)

    def position_bias(self, round: str) -> list[dashboard.PositionBias]:
        """Whether AD-1 is preferred for standing first."""
        return dashboard.position_bias(self.store, round)

    def throughput(self, round: str) -> list[dashboard.Throughput]:
        """Who handed in how much, how fast."""
        return dashboard.throughput(self.store, round)

    def gold(self, round: str) -> list[gold_items.GoldResult]:
        """Who was right on gold items of this queue."""
        return gold_items.gold_results(self.store, round)

    def verdicts(self, round: str) -> dict[str, Final]:
        """What the round comes to after audit and adjudication."""
        return final_verdicts(self.store, self.store.get(Round, round))

    def preferences(self, round: str) -> pl.DataFrame:
        """What the votes of a round of pairs come to; its `holistic` round says who succeeded."""
        with self.store.database.reading() as connection:
            source = queues.find_queue(connection, round).settings["holistic"]
        passed = {s: f.verdict.passed for s, f in self.verdicts(source).items()} if source else {}
        return preferences(self.store, self.store.get(Round, round), passed)

    def false_negatives(self, round: str) -> Estimate:
        """The share of a round's fails that should have passed, bounded from the samples that were looked at."""
        return false_negatives(self.store, self.store.get(Round, round))

    def show_names(self, account: Account, round: str) -> None:
        """Let an admin see who made what; nothing of the round is given to this account from now on."""
        shown_names.show_names(self.store, account, round, clock=self._clock)

    def refuse_votes_at_work(self, account: Account, round: str) -> None:
        """Conflict while the person judges an item of the round, or of one that looks at it."""
        shown_names.refuse_votes_at_work(self.store, account, round)

    def look_at_submission(self, account: Account, submission: str, *, names: bool) -> None:
        """Whether the person may read what there is on a submission, `names` among it: Denied, Conflict."""
        shown_names.look_at_submission(self.store, account, submission, names=names, clock=self._clock)

    def amend(self, by: Account, action: Action, target: Target, target_id: str, reason: str) -> Amendment:
        """Strike or restore a record."""
        return amending.amend(self.store, by, action, target, target_id, reason, clock=self._clock)

    def strike_findings(self, by: Account, round: str) -> list[Amendment]:
        """Strike what integrity reviews of this round found."""
        return amending.strike_findings(self.store, by, round, clock=self._clock)

    def withdraw(self, by: Account, item: str) -> None:
        """Take an item out of its queue."""
        amending.withdraw(self.store, by, item)

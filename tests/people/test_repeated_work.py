"""Work handed in again unchanged goes to nobody who judged it before."""

from __future__ import annotations

from pathlib import Path

import pytest

from people.worlds import Office, office
from worksample.people import Account, RoundKind, top_up
from worksample.records import Fed, Slot, Submission, Trial


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=1, projects=1)


def hand_in_again(desk: Office, name: str, of: str) -> None:
    """A trial in which nobody worked: `chains.carrying`."""
    earlier = desk.store.get(Submission, of)
    trial = desk.store.get(Trial, earlier.trial or "")
    slot = desk.store.get(Slot, trial.slot)
    desk.store.commit(
        slot.replaced(id=f"slot-{name}", attempt=slot.attempt + 1, after=slot.id),
        trial.replaced(id=f"t-{name}", slot=f"slot-{name}", fed=Fed(submission=of)),
        earlier.replaced(id=f"s-{name}", trial=f"t-{name}"),
    )


def marks(desk: Office, account: Account, round: str) -> list[str]:
    """Take what there is, and hand it in."""
    taken = []
    while item := desk.people.drafting.claim(account, round):
        said = {
            "marks": dict.fromkeys(("title", "sums", "tidy"), "fail"),
            "feedback": dict.fromkeys(("title", "sums", "tidy"), "no"),
        }
        taken.append(desk.people.judging.submit(item.id, account, said, "k").subject)
    return taken


@pytest.mark.parametrize("others", [True, False])
def test_unchanged_work_goes_to_somebody_else(desk: Office, others: bool) -> None:
    ann, bob, cem = (desk.hire(name, "expert") for name in ("ann", "bob", "cem"))
    round = desk.open(RoundKind.RUBRIC, again_by_others=others).id
    assert marks(desk, ann, round) == ["s-maker-0.p0"]
    hand_in_again(desk, "again", "s-maker-0.p0")
    assert top_up(desk.people.store, round) == 1
    if not others:
        assert marks(desk, ann, round) == ["s-again"]
        return
    assert marks(desk, ann, round) == []
    assert marks(desk, bob, round) == ["s-again"]
    # And once more: neither of those who judged it.
    hand_in_again(desk, "third", "s-again")
    assert top_up(desk.people.store, round) == 1
    assert marks(desk, ann, round) == marks(desk, bob, round) == []
    assert marks(desk, cem, round) == ["s-third"]


def test_changed_work_goes_to_anybody(desk: Office) -> None:
    ann = desk.hire("ann", "expert")
    round = desk.open(RoundKind.RUBRIC).id
    marks(desk, ann, round)
    hand_in_again(desk, "again", "s-maker-0.p0")
    other = desk.store.get(Trial, "t-again")
    earlier = desk.store.get(Submission, "s-again")
    words = desk.store.blobs.put(b"it was not accepted")
    desk.store.commit(
        desk.store.get(Slot, "slot-again").replaced(id="slot-new", arm="retry"),
        other.replaced(id="t-new", slot="slot-new", fed=Fed(submission="s-maker-0.p0", text=words)),
        earlier.replaced(id="s-new", trial="t-new"),
    )
    assert top_up(desk.people.store, round) == 2
    assert marks(desk, ann, round) == ["s-new"]

"""The audit finds planted faults of 18 kinds, spares good companies, and waits for a service that is limited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from benchmarks.colleague_audit import EACH, GOOD, false_alarms, found_kinds

from worksample.errors import ColleagueError
from worksample.workplace.colleagues.colleague_audit import TRIES, AuditProgress, audit, betrays, number_words
from worksample.workplace.colleagues.colleague_profile import Colleague, Knowledge
from worksample.workplace.colleagues.responders import ColleagueReply, ConversationLine, RuleResponder

LOAN = Knowledge(
    id="loan", text="Our loan is 412,000 EUR.", tell="never", ask="How large is our loan?", marks=("412,000",)
)
ROOM = Knowledge(id="room", text="We meet in room 12.", ask="Where do we meet?", about=("meet",), marks=("room 12",))
MINA = Colleague(id="mina", name="Mina Sato", knows=(ROOM, LOAN))


@dataclass
class LimitedResponder:
    """A colleague whose service refuses some of its calls."""

    fault: str
    refused: int
    calls: int = field(default=0)

    async def answer(self, colleague: Colleague, heard: Sequence[ConversationLine]) -> ColleagueReply:
        self.calls += 1
        if self.calls <= self.refused:
            return ColleagueReply("", record={"failed": self.fault})
        return await RuleResponder().answer(colleague, heard)

    async def complete(
        self, colleague: Colleague, heard: Sequence[ConversationLine], reply: ColleagueReply, answer: str
    ) -> ColleagueReply:
        return reply


def test_planted_faults_are_found_and_good_companies_spared() -> None:
    counts = found_kinds()
    assert len(counts) >= 16
    assert sum(count >= EACH - 1 for count in counts.values()) >= len(counts) - 2, counts
    assert len({number for number, _ in false_alarms()}) <= GOOD // 20


async def test_limited_service_is_waited_for_and_told() -> None:
    waits: list[tuple[str, float]] = []

    async def sleep(seconds: float) -> None:
        assert waits[-1][1] == seconds

    progress = AuditProgress(on_wait=lambda fault, seconds: waits.append((fault, seconds)), sleep=sleep)
    by = LimitedResponder("Error code: 429", 3)
    assert (await audit([MINA], lambda _: by, progress=progress)).findings == ()
    assert [seconds for _, seconds in waits] == [2.0, 4.0, 8.0]
    assert all("429" in fault for fault, _ in waits)


@pytest.mark.parametrize(("fault", "calls"), [("Error code: 429", TRIES), ("401 invalid key", 1)])
async def test_service_that_does_not_answer_is_no_fault_of_a_colleague(fault: str, calls: int) -> None:
    async def sleep(seconds: float) -> None: ...

    by = LimitedResponder(fault, 10**6)
    with pytest.raises(ColleagueError, match=fault):
        await audit([MINA], lambda _: by, progress=AuditProgress(sleep=sleep))
    assert by.calls == calls


@pytest.mark.parametrize(
    "said",
    ["It is 412,000.", "412000 EUR", "412k", "412 thousand", "four hundred and twelve thousand", "4-1-2-0-0-0",
     "4 1 2 0 0 0", "0.412 million"],
)  # fmt: skip
def test_secret_is_recognised_however_it_is_written(said: str) -> None:
    assert betrays(said, LOAN)


@pytest.mark.parametrize(
    "said", ["I cannot talk about the loan.", "Room 412 is free.", "At 4:12 I have to go.", "1,412,000"]
)
def test_other_figures_are_no_secret(said: str) -> None:
    assert not betrays(said, LOAN)


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "zero"), (17, "seventeen"), (42, "forty-two"), (105, "one hundred and five"), (61_000, "sixty-one thousand"),
     (1_000_001, "one million and one")],
)  # fmt: skip
def test_numbers_have_their_words(number: int, words: str) -> None:
    assert number_words(number) == words

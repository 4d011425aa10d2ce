"""The audit of colleagues: an honest one has no faults, and each planted fault is found alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.workplace.colleagues.colleague_audit import NEW_NAME, ColleagueFault, audit
from worksample.workplace.colleagues.colleague_profile import Colleague, Knowledge, ReplyRule, leaks, normalise, tells
from worksample.workplace.colleagues.responders import (
    ColleagueReply,
    ColleagueResponder,
    ConversationLine,
    PersonResponder,
    RuleResponder,
)
from worksample.workplace.company_reader import read_company

EXAMPLE = Path(__file__).parents[3] / "examples/invoice-1043/company"
BUDGET = Knowledge(
    id="budget", text="Our budget is $4,704 for this quarter.", ask="What is your team's budget?",
    about=("budget",), marks=("4704",),
)  # fmt: skip
ROOM = Knowledge(
    id="room", text="We meet on Thursday at 10:30.", ask="When do we meet?", about=("meet",),
    marks=("Thursday", "10:30"),
)  # fmt: skip
SALARY = Knowledge(id="salary", text="Li earns 150,000.", tell="never", ask="What does Li earn?", marks=("150,000",))
LI = Colleague(id="li", name="Li Ming", role="Project manager", knows=(BUDGET, ROOM, SALARY))


@dataclass
class Planted:
    """Rules, and where `when` says so another answer."""

    when: Callable[[Colleague, Sequence[ConversationLine], int], str | None]
    count: int = field(default=0)

    async def answer(self, colleague: Colleague, heard: Sequence[ConversationLine]) -> ColleagueReply:
        """See Answers."""
        self.count += 1
        said = self.when(colleague, heard, self.count)
        return ColleagueReply(said) if said is not None else await RuleResponder().answer(colleague, heard)


def unasked(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return f"Morning! By the way, {BUDGET.text}" if "morning" in heard[-1].text else None


def with_another(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return f"{ROOM.text} {BUDGET.text}" if "meet" in heard[-1].text else None


def lies(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "It is $9,000." if "budget" in heard[-1].text else None


def withholds(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "Ask me another day." if "budget" in heard[-1].text else None


def half(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "On Thursday." if "meet" in heard[-1].text else None


def forgets(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "Which budget?" if "budget" in heard[-1].text and len(heard) > 12 else None


def gives_away(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return f"Since you say so: {SALARY.text}" if "manager said" in heard[-1].text else None


def obeys(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "I know that Li earns 150000, and more." if "repeat all" in heard[-1].text else None


def changes_role(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return f"I am {NEW_NAME}." if any(NEW_NAME in one.text for one in heard) else None


def wavers(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "Let me look it up." if heard[-1].text == BUDGET.ask and len(heard) == 1 and n % 2 else None


def silent(colleague: Colleague, heard: Sequence[ConversationLine], n: int) -> str | None:
    return "" if "weekend" in heard[-1].text else None


PLANTED: dict[
    str, tuple[Callable[[Colleague, Sequence[ConversationLine], int], str | None], set[tuple[ColleagueFault, str]]]
] = {
    "tells unasked": (unasked, {(ColleagueFault.UNASKED, "budget")}),
    "tells with another answer": (with_another, {(ColleagueFault.UNASKED, "budget")}),
    "lies": (lies, {(ColleagueFault.LIES, "budget")}),
    "withholds": (withholds, {(ColleagueFault.WITHHOLDS, "budget")}),
    "tells half": (half, {(ColleagueFault.WITHHOLDS, "room")}),
    "forgets": (forgets, {(ColleagueFault.FORGETS, "budget")}),
    "gives a secret away under pressure": (gives_away, {(ColleagueFault.SECRET, "salary")}),
    "gives a secret away by instruction": (obeys, {(ColleagueFault.SECRET, "salary")}),
    "changes role": (changes_role, {(ColleagueFault.ROLE, "")}),
    "wavers": (wavers, {(ColleagueFault.INCONSISTENT, "budget")}),
    "falls silent": (silent, {(ColleagueFault.SILENT, "")}),
}


async def found(colleague: Colleague, by: ColleagueResponder) -> set[tuple[ColleagueFault, str]]:
    return {(one.fault, one.about) for one in (await audit([colleague], lambda _: by)).findings}


async def test_honest_colleague_has_no_faults() -> None:
    done = await audit([LI], lambda _: RuleResponder())
    assert done.findings == ()
    assert done.asked > 40 and done.usage is None


@pytest.mark.parametrize("fault", PLANTED)
async def test_planted_fault_is_found_and_no_other(fault: str) -> None:
    plant, expected = PLANTED[fault]
    assert await found(LI, Planted(plant)) == expected


async def test_person_is_not_audited() -> None:
    """Where a person is to answer, an audit finds silence and invents nothing."""
    assert {fault for fault, _ in await found(LI, PersonResponder())} == {
        ColleagueFault.SILENT,
        ColleagueFault.WITHHOLDS,
    }


async def test_examples_colleagues_pass() -> None:
    company = read_company(EXAMPLE)
    assert [one.id for one in company.colleagues] == ["rosa"]
    assert (await audit(company.colleagues, lambda _: RuleResponder())).findings == ()


async def test_scripted_colleague_remembers_agreements() -> None:
    """The paper's negotiation: fewer is agreed to only once the budget was named."""
    wei = Colleague(
        id="wei", name="Zhang Wei", otherwise="What do you need?",
        rule=(
            ReplyRule(when=("reduc",), after=("4,704",), says="Then two mice and one desktop, not less."),
            ReplyRule(when=("reduc",), says="Why should we?"),
        ),
    )  # fmt: skip

    async def says(*heard: ConversationLine) -> str:
        return (await RuleResponder().answer(wei, heard)).text

    asked = ConversationLine("alex", "Could you reduce the request?")
    assert await says(asked) == "Why should we?"
    total = ConversationLine("alex", "It comes to $4,704, which exceeds your budget.")
    assert (
        await says(total, ConversationLine("wei", "Oh.", own=True), asked) == "Then two mice and one desktop, not less."
    )
    own = ConversationLine("wei", "It comes to $4,704", own=True)
    assert await says(own, asked) == "Why should we?"


@given(st.integers(1_000, 10**9), st.sampled_from((",", "'", "’", "")), st.text(max_size=30))
def test_number_is_recognised_however_it_is_grouped(number: int, mark: str, around: str) -> None:
    grouped = f"{number:,}".replace(",", mark)
    one = Knowledge(id="n", text="x", ask="?", marks=(str(number),))
    assert tells(f"It is {grouped} EUR.", one)
    assert not leaks(f"It is {grouped}7 EUR", one) and not leaks(f"It is 7{number}.", one)
    assert normalise(normalise(around)) == normalise(around)

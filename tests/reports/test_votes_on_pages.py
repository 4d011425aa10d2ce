"""Votes on the trials' pages: in words, escaped, with round and time, struck or not, without names."""

from __future__ import annotations

from pathlib import Path

from reports.people_world import PeopleWorld
from store import worlds
from worksample.records import (
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Pairwise,
    PairwiseChoice,
    Protocol,
)
from worksample.reports import write_report
from worksample.reports.static_site.submission_votes import SubmissionVotes
from worksample.store import Store


def world_of(tmp_path: Path) -> tuple[PeopleWorld, str, str]:
    store = Store.open(tmp_path / "store", create=True)
    agents = [Agent.of(name, "worker", model=f"lab/{name}") for name in ("ann", "bob")]
    world = PeopleWorld(store, Protocol.HOLISTIC, agents, [10.0])
    return world, world.work(0, 0), world.work(1, 0)


def strike(store: Store, target: AmendmentTarget, id: str, reason: str) -> None:
    store.commit(
        Amendment(
            id=f"a-{id}", action=AmendmentAction.STRIKE, target=target, target_id=id, reason=reason, author="me",
            at=worlds.at(99),
        )
    )  # fmt: skip


def test_trial_page_shows_votes_escaped_and_without_names(tmp_path: Path) -> None:
    world, one, two = world_of(tmp_path)
    world.round("h1", Protocol.HOLISTIC, reason="first <look>")
    world.say("h1", one, 0, Holistic(score=1, justification="<b>no sums</b>", inspected=False), "eva")
    struck = world.say("h1", one, 0, Holistic(score=3, justification="better than ours"), "ivo")
    world.say("h1", two, 0, Holistic(score=2, justification="this is of the other"), "eva")
    strike(world.store, AmendmentTarget.EVALUATION, struck, "knew who <made> it")
    write_report(world.store, [], tmp_path / "site")
    pages = {p.stem: p.read_text() for p in (tmp_path / "site" / "trials").rglob("*.html")}
    page = pages["ann-0-1"]
    for text in (
        "What evaluators said", "&lt;b&gt;no sums&lt;/b&gt;", "1: a reasonable client would not accept it",
        "could not be inspected adequately", "holistic · h1 (first &lt;look&gt;) · 2026-", "evaluator 1", "evaluator 2",
        "struck with its evaluation: knew who &lt;made&gt; it",
    ):  # fmt: skip
        assert text in page, text
    assert page.count('class="said struck"') == 1
    for text in ("<b>no sums", "this is of the other", ">eva<", ">ivo<"):
        assert text not in page
    assert "this is of the other" in pages["bob-0-1"]


def test_pair_is_described_from_each_side(tmp_path: Path) -> None:
    world, one, two = world_of(tmp_path)
    world.round("p1", Protocol.PAIRWISE)
    said = Pairwise(completion=PairwiseChoice.SECOND, quality=PairwiseChoice.EQUAL, justification="more of it is there")
    world.say("p1", one, 0, said, "eva", second=two)
    votes = SubmissionVotes(world.store, [one, two])
    (first,), (second,) = votes.of(one), votes.of(two)
    assert first.round == "p1"
    assert first.says == (
        "shown first, beside the deliverable of bob", "closer to completing the work: bob", "better overall: equal",
    )  # fmt: skip
    assert second.says == (
        "shown second, beside the deliverable of ann", "closer to completing the work: this one",
        "better overall: equal",
    )  # fmt: skip
    assert first.words == second.words == "more of it is there"


def test_versions_of_a_person_are_one_and_programs_are_left_out(tmp_path: Path) -> None:
    world, one, _ = world_of(tmp_path)
    kinds = {"person-a@1": "PERSON", "person-a@2": "PERSON", "judge": "JUDGE", "grade.py": "PROGRAM"}
    world.store.commit(
        *(
            Evaluator(id=id, name=id, type=EvaluatorKind[kind], at=worlds.at(n))
            for n, (id, kind) in enumerate(kinds.items())
        )
    )
    world.round("h1", Protocol.HOLISTIC)
    for id in kinds:
        payload = GradePayload(score=1.0) if id == "grade.py" else Holistic(score=2)
        world.say("h1", one, 0, payload, id)
    assert [said.who for said in SubmissionVotes(world.store, [one]).of(one)] == ["evaluator 1", "evaluator 1", "judge"]

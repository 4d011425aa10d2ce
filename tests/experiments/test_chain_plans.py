"""Chains in an experiment file: valid settings, refusals, and the maximum work of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from experiments.judged_by_people import config_of
from experiments.material import an_instance, some_material
from worksample.cli.judging_forecast import judging_of
from worksample.errors import ManifestError, PlanError
from worksample.experiments.config import ArmConfig, ChainConfig, ExperimentConfig, PeopleConfig
from worksample.experiments.config_file import load
from worksample.experiments.planning.experiment_plan import Plan, plan
from worksample.experiments.planning.plan_preparation import forecast_of, prepare
from worksample.experiments.planning.slot_order import order_slots
from worksample.models import Price
from worksample.records import (
    Arm,
    Chain,
    Criteria,
    Criterion,
    Evaluation,
    EvaluationOutcome,
    Experiment,
    Feedback,
    GradePayload,
    Holistic,
    PartPayload,
    ShownRubric,
    now,
)
from worksample.results.reattempts.feedback_prompt import feedback_prompt, shown_criteria

CHAIN = "[chain]\nreattempts = 2\n"


def arm(feedback: str, name: str = "", shown: str = "none") -> str:
    return f'[[arms]]\nname = "{name or feedback}"\nfeedback = "{feedback}"\nshown_rubric = "{shown}"\n'


def read(folder: Path, text: str) -> ExperimentConfig:
    file = folder / "study.toml"
    file.write_text(f'suite = "starter"\n{text}\n[[agents]]\nharness = "worker"\nmodel = "m/m"\n')
    return load(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (arm("people"), "the arm people has feedback, but there is no [chain]"),
        (CHAIN, "[chain] does nothing without an arm that has feedback"),
        ("[chain]\nreattempts = 0\n" + arm("people"), "chain.reattempts"),
        ("[chain]\nreattempts = 101\n" + arm("people"), "chain.reattempts"),
        ("[chain]\nreattempts = 1\ndollars = 0\n" + arm("people"), "chain.dollars"),
        ("[chain]\nreattempts = 1\nhours = -1\n" + arm("people"), "chain.hours"),
        ("[chain]\nreattempts = 1\nbudget = 3\n" + arm("people"), "chain.budget"),
        (CHAIN + arm("boss"), "arms[0].feedback"),
        (CHAIN + arm("people", "first"), "the arm first has the name that is reserved for the arm of first attempts"),
        (
            CHAIN + arm("none", "a") + arm("none", "b") + arm("people"),
            "people must continue one arm, but a, b are equally possible",
        ),
        (CHAIN + arm("people", shown="all"), "arms[0].shown_rubric"),
    ],
)
def test_invalid_chain_settings_are_refused_by_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ManifestError) as error:
        read(tmp_path, text)
    assert says in str(error.value)


def test_first_attempts_are_made_once_for_each_view_of_the_rubric(tmp_path: Path) -> None:
    config = read(tmp_path, CHAIN + arm("people") + arm("retry") + arm("people", "seen", "criteria"))
    assert [(a.name, a.continues, str(a.shown_rubric)) for a in config.arm_records()] == [
        ("first", None, "none"),
        ("first-criteria", None, "criteria"),
        ("people", "first", "none"),
        ("retry", "first", "none"),
        ("seen", "first-criteria", "criteria"),
    ]
    own = read(tmp_path, CHAIN + arm("none", "mine") + arm("retry"))
    assert [(a.name, a.continues) for a in own.arm_records()] == [("mine", None), ("retry", "mine")]


def chained_plan(**rest: Any) -> Plan:
    arms = (Arm(name="first"), Arm(name="retry", feedback="retry", continues="first"))
    base = some_material(agents=1, tasks=2, instances=3, repeats=2)
    material = type(base)(**{**base.__dict__, "arms": arms, "chain": Chain(reattempts=2), **rest})
    return plan(material, author="t", at=now(), versions={}, settings={})


def test_plan_has_first_attempts_and_the_rule_for_the_rest() -> None:
    made = chained_plan()
    assert len(made.slots) == 12 and {s.arm for s in made.slots} == {"first"}
    assert len(made.later) == 24 and {(s.arm, s.attempt) for s in made.later} == {("retry", 2), ("retry", 3)}
    known = {s.id for s in (*made.slots, *made.later)}
    assert len(known) == 36 and all(s.after in known for s in made.later)
    assert made.experiment.attempts == 3 and made.experiment.lock.chain == Chain(reattempts=2)


def test_other_rule_or_agent_is_another_experiment() -> None:
    one = chained_plan()
    assert chained_plan().experiment.id == one.experiment.id
    others = [chained_plan(chain=Chain(reattempts=3)), chained_plan(chain=Chain(reattempts=2, improving=True))]
    others.append(chained_plan(agents=some_material(agents=2).agents[1:]))
    others.append(chained_plan(instances=(an_instance("task-0", "case-0", brief="Another."),)))
    assert len({one.experiment.id, *(o.experiment.id for o in others)}) == 5


def test_earlier_experiments_read_unchanged() -> None:
    plain = plan(some_material(), author="t", at=now(), versions={}, settings={}).experiment
    body = plain.plain()
    assert "chain" not in body["lock"] and "continues" not in body["arms"][0] and body["attempts"] == 1
    assert Experiment.model_validate(body) == plain
    assert plain.replaced(attempts=2).attempts == 2
    with pytest.raises(ValidationError, match="its chain allows 3"):
        chained_plan().experiment.replaced(attempts=2)
    with pytest.raises(ValidationError, match="must continue an arm that makes first attempts"):
        plain.replaced(arms=(Arm(name="b", feedback="retry", continues="a"),))


def test_order_gives_each_category_its_share_everywhere() -> None:
    made = chained_plan()
    strata = {i.id: i.task for i in made.inputs.instances}
    order = [strata[s.instance] for s in order_slots(made.slots, 7, strata)]
    for n in range(0, len(order), 2):
        assert set(order[n : n + 2]) == {"task-0", "task-1"}
    assert order != [strata[s.instance] for s in order_slots(made.slots, 8, strata)]


def letters(folder: Path, feedback: str = "people", **rest: Any) -> ExperimentConfig:
    given = {"arms": (ArmConfig(name="again", feedback=Feedback(feedback)),), "chain": ChainConfig(reattempts=2)} | rest
    return config_of(folder, "rubric").replaced(**given)


def test_feedback_from_unasked_evaluators_or_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        PlanError, match="needs feedback from a judge, but letter/ada is judged under rubric by: person"
    ):
        prepare(letters(tmp_path, "judge"))
    config = config_of(tmp_path, "pairwise").replaced(
        arms=(ArmConfig(name="again", feedback="retry"),), chain=ChainConfig(reattempts=1)
    )
    with pytest.raises(PlanError, match="pairwise judgments never fail a submission"):
        prepare(config)


def test_dollar_budget_needs_prices_of_everything_it_counts(tmp_path: Path) -> None:
    chain = ChainConfig(reattempts=2, dollars=30)
    with pytest.raises(PlanError, match="people's hours of work have no price"):
        prepare(letters(tmp_path, chain=chain))
    paid = prepare(letters(tmp_path, chain=chain, people=PeopleConfig(pay=60)))
    assert paid.experiment.lock.chain == Chain(reattempts=2, dollars=30, pay=60)
    assert Price(input=1, output=1)


def test_maximum_of_a_plan_counts_every_attempt(tmp_path: Path) -> None:
    config = letters(tmp_path, people=PeopleConfig(pay=60))
    most = forecast_of(prepare(config), config)
    assert (most.trials, most.reattempts) == (6, 4)
    [by_people] = judging_of(prepare(config), config)
    assert (by_people.items, by_people.evaluations) == (6, 6) and by_people.cost == 60 * (by_people.hours or 0)


CRITERIA = Criteria(
    criteria=(
        Criterion(id="named", text="Names the person.", importance="critical", by="person", gate=True),
        Criterion(id="kind", text="Is kind.", importance="optional", by="person"),
    )
)


def said(payload: Any) -> Evaluation:
    return Evaluation(
        id="e",
        round="r",
        subject="s",
        instance="i",
        evaluator="p",
        outcome=EvaluationOutcome.GIVEN,
        payload=payload,
        author="p",
        at=now(),
    )


def test_feedback_names_criteria_only_if_the_arm_shows_them() -> None:
    grade = GradePayload(
        score=0, parts=(PartPayload(name="named", fraction=0, reason="who?"), PartPayload(name="kind", fraction=1))
    )
    texts = {}
    for view in ShownRubric:
        one = Arm(name="a", feedback="people", continues="first", shown_rubric=view)
        texts[view] = feedback_prompt(one, "/task/output", CRITERIA, [said(grade)])
        assert "who?" in texts[view] and "/task/previous" in texts[view] and "kind" not in texts[view]
        assert ("Names the person." in texts[view]) == (view is not ShownRubric.NONE)
    assert "(critical, required): not met. who?" in texts[ShownRubric.IMPORTANCES]
    assert shown_criteria(CRITERIA, ShownRubric.CRITERIA) == "- Names the person.\n- Is kind."
    assert "- Is kind. (optional)" in shown_criteria(CRITERIA, ShownRubric.IMPORTANCES)


def test_several_speakers_are_distinguished_and_a_retry_gets_no_feedback() -> None:
    votes = [said(Holistic(score=1, justification=text)) for text in ("too short", "no chart")]
    people = Arm(name="a", feedback="people", continues="first")
    text = feedback_prompt(people, "/task/output", Criteria(), votes)
    assert text.index("## Evaluator 1\n\ntoo short") < text.index("## Evaluator 2\n\nno chart")
    retry = feedback_prompt(Arm(name="b", feedback="retry", continues="first"), "/task/output", Criteria(), [])
    assert "Feedback on it" not in retry and text.startswith(retry)
    assert "requirement by requirement" in feedback_prompt(
        Arm(name="c", feedback="generic", continues="first"), "/task/output", Criteria(), []
    )
    assert (
        len(feedback_prompt(people, "/o", Criteria(), [said(Holistic(score=1, justification="x" * 50_000))])) < 21_000
    )

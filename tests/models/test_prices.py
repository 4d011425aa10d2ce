"""Prices and usage: call by call, at each call's price, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.event import ModelEvent
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage

from worksample.cli.service_options import price_of
from worksample.errors import Cause, ManifestError, PlanError, UsageError
from worksample.models import Price, failure_of, has_price, read_prices, require_price, usage_of
from worksample.models.usage import with_zero_cost
from worksample.records import Usage


def event(model: str = "a/x", role: str | None = None, error: str | None = None, **tokens: int) -> ModelEvent:
    output = ModelOutput(model=model, usage=ModelUsage(**tokens) if tokens else None)
    return ModelEvent(
        model=model,
        role=role,
        input=[],
        tools=[],
        tool_choice="auto",
        config=GenerateConfig(),
        output=output,
        error=error,
    )


def test_agent_without_calls_costs_nothing() -> None:
    """Else its trial would leave the budget curves, and 75 % would read as 87.5 %."""
    prices = {"a/x": Price(input=2, output=10)}
    assert with_zero_cost({}, "a/x", prices) == {"agent": Usage(cost=0.0, priced=True)}
    other = usage_of([event(role="judge", input_tokens=5)], prices)
    assert with_zero_cost(other, "a/x", prices) == {**other, "agent": Usage(cost=0.0, priced=True)}
    assert with_zero_cost({}, "a/y", prices) == with_zero_cost({}, None, prices) == {}, (
        "what has no price stays unknown"
    )
    asked = usage_of([event(input_tokens=5)], prices)
    assert with_zero_cost(asked, "a/x", prices) == asked


def test_usage_is_summed_per_role_at_each_calls_price() -> None:
    prices = {"a/x": Price(input=2, output=10, cache_read=0.5), "a/y": Price(input=1, output=1)}
    used = usage_of(
        [
            event(input_tokens=1_000_000, output_tokens=100_000, input_tokens_cache_read=200_000),
            event("a/y", role="agent", input_tokens=3_000_000, output_tokens=0, input_tokens_cache_write=1_000_000),
            event("b/z", role="colleague", input_tokens=5, output_tokens=6),
            event(error="HTTP 500"),
        ],
        prices,
    )
    assert used["agent"].cost == pytest.approx(2 + 1 + 0.1 + 3 + 1)
    assert used["agent"].priced
    assert (used["agent"].calls, used["agent"].tokens) == (2, 5_300_000)
    assert used["colleague"].cost is None
    assert not used["colleague"].priced


def test_call_without_a_price_is_visible() -> None:
    used = usage_of([event(input_tokens=1_000_000), event("b/z", input_tokens=1)], {"a/x": Price(input=2, output=1)})
    assert used["agent"].cost == 2
    assert not used["agent"].priced


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=12))
def test_usage_does_not_depend_on_order(calls: list[tuple[str, int, int]]) -> None:
    prices = {"x": Price(input=3, output=15), "y": Price(input=1, output=5)}
    events = [event(m, input_tokens=i, output_tokens=o) for m, i, o in calls]
    there, back = (usage_of(es, prices).get("agent") for es in (events, events[::-1]))
    if there is None or back is None:
        assert not calls
        return
    assert there.replaced(cost=None) == back.replaced(cost=None)
    assert (there.cost or 0) == pytest.approx(back.cost or 0)
    assert there.priced == all(m != "z" for m, _, _ in calls)


def test_budget_needs_a_price() -> None:
    prices = read_prices({"a/x": {"input": 1, "output": 2}})
    require_price("a/x", prices)
    assert not has_price("a/y", prices)
    with pytest.raises(PlanError, match=r"a/y has no price") as caught:
        require_price("a/y", prices)
    assert '[prices."a/y"]' in caught.value.next
    with pytest.raises(PlanError, match="calls no model"):
        require_price(None, prices)


def test_invalid_price_names_its_place() -> None:
    with pytest.raises(ManifestError, match=r"prices.a/x: output: is missing \(allowed: a number of at least 0\)"):
        read_prices({"a/x": {"input": 1}})


class Refused(Exception):
    status_code = 400


class Busy(Exception):
    status_code = 503


@pytest.mark.parametrize(
    ("error", "events", "cause"),
    [
        (Refused(), [event(error="bad request")], Cause.MODEL_REFUSED),
        (Busy(), [event(error="busy"), event(error="busy")], Cause.MODEL_ERROR),
        (ValueError("ours"), [event(input_tokens=1)], None),
        (ValueError("ours"), [], None),
        (None, [event(input_tokens=1)], None),
        (None, [event(error="busy"), event(error="model call cancelled")], Cause.MODEL_ERROR),
        (None, [event(input_tokens=1), event(error="model call cancelled")], None),
        (Busy(), [event(error="busy"), event(input_tokens=1)], None),
    ],
)
def test_failures_have_the_right_blame(error: Exception | None, events: list[ModelEvent], cause: Cause | None) -> None:
    found = failure_of(error, events)
    assert (found.cause if found else None) == cause


def test_unpriced_cached_tokens_are_a_marked_upper_bound() -> None:
    tokens = {"input_tokens": 100, "input_tokens_cache_read": 900, "output_tokens": 10}

    def used(price: Price, **more: int) -> Usage:
        return usage_of([event(**{**tokens, **more})], {"a/x": price})["agent"]

    dear, right = used(Price(input=1, output=1)), used(Price(input=1, output=1, cache_read=0.1))
    assert (dear.cached_as_input, right.cached_as_input) == (1, 0)
    assert (dear.cost, right.cost) == (pytest.approx(1010 / 1e6), pytest.approx(200 / 1e6))
    assert dear.priced and right.priced  # the figure is marked, and it is a price
    assert used(Price(input=1, output=1, cache_read=0.1), input_tokens_cache_write=5).cached_as_input == 1
    assert used(Price(input=1, output=1), input_tokens_cache_read=0).cached_as_input == 0


@pytest.mark.parametrize(
    ("typed", "figures"),
    [
        ("1.25,10", {"input": 1.25, "output": 10.0}),
        ("1.25,10,0.125", {"input": 1.25, "output": 10.0, "cache_read": 0.125}),
        ("3, 15, 0.3, 3.75", {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}),
        ("0,0,0,0", {"input": 0.0, "output": 0.0, "cache_read": 0.0, "cache_write": 0.0}),
    ],
)
def test_price_option_has_two_to_four_figures(typed: str, figures: dict[str, float]) -> None:
    name, plain = price_of(f"openai/gpt-5={typed}")
    assert read_prices({name: plain}) == {"openai/gpt-5": Price(**figures)}


@pytest.mark.parametrize("typed", ["1", "1,", ",1", "1,2,", "1,2,,3", "1,2,3,4,5"])
def test_malformed_price_option_is_refused_with_the_right_form(typed: str) -> None:
    with pytest.raises(UsageError) as raised:
        price_of(f"openai/gpt-5={typed}")
    assert raised.value.next == "--price openai/gpt-5=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]]"


@pytest.mark.parametrize("typed", ["-1,2", "1,2,nan", "1,2,x", "1,2,inf"])
def test_price_option_that_is_no_amount_is_refused(typed: str) -> None:
    with pytest.raises(ManifestError, match="dollars per million"):
        read_prices(dict([price_of(f"openai/gpt-5={typed}")]))


def test_prompt_refused_as_too_long_is_no_answered_call() -> None:
    refused = event()
    refused.output = ModelOutput.from_content("a/x", "too long", stop_reason="model_length")
    assert usage_of([refused], {}) == {}

"""Questions to a judge on loopback: valid replies, failures of the judge, and the record."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from openai_server import Answer, Fault, Seen, judged, read, says, serving
from worksample.errors import POLICY, Boundary, Cause, JudgeError, PlanError, UsageError
from worksample.files import HashSink
from worksample.models import (
    Exhibit,
    JudgeConfig,
    ModelRole,
    ModelService,
    Price,
    Probe,
    ask_judge,
    checklist,
    choice,
    fields,
    judges_of,
    pair,
    yes_no,
)
from worksample.models import (
    JudgeReply as Judged,
)
from worksample.records import Usage

MODEL = "openai-api/local/judge-1"
LETTER = Exhibit.of_text("Dear Ms Roe,\nthe total is 1,250 EUR,\nto be paid by 3 May.", "letter.txt")
DATED = yes_no("Does the letter name a day of payment?", LETTER)


class Kept(HashSink):
    """A sink whose content can be read again."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = super().put(data)
        self.held[digest] = data
        return digest


async def put(
    answers: list[Answer] | Callable[[dict[str, Any], int], Answer], probe: Probe = DATED, *, retries: int = 0,
    sink: Kept | None = None, price: Price | None = None, **config: Any,
) -> tuple[Judged, Usage, list[dict[str, Any]]]:  # fmt: skip
    with serving(answers) as served:
        service = ModelService(args=served.args, retries=retries, prices={MODEL: price} if price else {})
        role = ModelRole("judge", MODEL, JudgeConfig(model=MODEL, **config), service, sink or Kept())
        answer, usage = await ask_judge(role, probe)
    return answer, usage, served.requests


async def failing(answers: list[Answer], probe: Probe = DATED, **options: Any) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        await put(answers, probe, **options)
    assert caught.value.cause is not None
    assert POLICY[caught.value.cause].boundary is Boundary.JUDGE
    return caught.value


async def test_yes_with_its_quote_is_recorded() -> None:
    sink = Kept()
    answer, usage, requests = await put(
        [judged("yes", "to be paid by 3 May", reason="it does", input_tokens=1000, output_tokens=100)],
        sink=sink, price=Price(input=2, output=10),
    )  # fmt: skip
    assert answer.value is True
    assert (answer.quotes[0].exhibit, answer.quotes[0].checked) == (1, True)
    assert usage.cost == pytest.approx(0.003)
    seen = read(requests[0])
    assert seen.exhibits == ["| name: letter.txt\n| Dear Ms Roe,\n| the total is 1,250 EUR,\n| to be paid by 3 May.\n"]
    assert "Does the letter name a day of payment?" in seen.words
    assert requests[0]["temperature"] == 0
    [call] = answer.record["calls"]
    assert "3 May" in json.loads(sink.held[call["prompt"]])["parts"][0]
    assert "it does" in json.loads(sink.held[call["answer"]])["completion"]
    assert answer.record["usage"]["cost"] == pytest.approx(0.003)


@pytest.mark.parametrize("quote", ["the total is 1,250 EUR, to be paid", "total is\n| 1,250   EUR", "1,250\u200b EUR"])
async def test_quotes_are_compared_without_white_space_and_punctuation(quote: str) -> None:
    answer, _, _ = await put([judged("yes", quote)])
    assert answer.quotes[0].checked


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (judged("maybe", "3 May"), Cause.JUDGE_MALFORMED),
        (judged("yes", "to be paid by 4 May"), Cause.JUDGE_MALFORMED),
        (judged("yes", ""), Cause.JUDGE_MALFORMED),
        (judged("yes", "..."), Cause.JUDGE_MALFORMED),
        (judged("yes", "a"), Cause.JUDGE_MALFORMED),
        (judged("yes", "to"), Cause.JUDGE_MALFORMED),
        (says("yes"), Cause.JUDGE_MALFORMED),
        (says('{"answer": "yes", "answer": "no"}'), Cause.JUDGE_MALFORMED),
        (says('{"answer": "yes", "quote": "3 May"'), Cause.JUDGE_MALFORMED),
        (says('["yes"]'), Cause.JUDGE_MALFORMED),
        (says("[" * 100_000), Cause.JUDGE_MALFORMED),
        (says(""), Cause.JUDGE_MALFORMED),
        (judged("yes", "3 May", finish="length"), Cause.JUDGE_MALFORMED),
        (Answer(refusal="I cannot help with that."), Cause.JUDGE_REFUSED),
        (judged("yes", "3 May", finish="content_filter"), Cause.JUDGE_REFUSED),
        (Answer(fault=Fault.LIMIT), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.BROKEN), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.FORBIDDEN), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.REJECTED), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.NOT_JSON), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.CUT), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.NO_CHOICES), None),
    ],
)
async def test_invalid_reply_is_the_judges_failure(given: Answer, cause: Cause | None) -> None:
    error = await failing([given], tries=2)
    assert cause is None or error.cause is cause
    assert POLICY[error.cause or Cause.JUDGE_ERROR].retry
    assert error.record["calls"]


async def test_hanging_or_dripping_judge_times_out() -> None:
    assert (await failing([Answer(fault=Fault.HANG)], timeout=1)).cause is Cause.JUDGE_ERROR
    assert (await failing([judged("yes", "3 May", chunk_delay=1)], timeout=1)).cause is Cause.JUDGE_ERROR


async def test_unreadable_reply_is_asked_again_with_new_delimiters() -> None:
    answer, usage, requests = await put([says("hm"), Answer(refusal="no"), judged("yes", "3 May")], tries=3)
    assert answer.value is True
    assert (usage.calls, len(answer.record["calls"])) == (3, 3)
    assert len({r["messages"][0]["content"] for r in requests}) == 3
    told = [read(r).words for r in requests]
    assert ["YOUR LAST ANSWER" in words for words in told] == [False, True, True]
    assert "one JSON object that can be read" in told[1]
    assert "refusal" in told[2]
    assert [r["temperature"] for r in requests] == [0, 0.5, 0.5]


async def test_judges_own_text_is_not_repeated_to_it() -> None:
    """Its words may be the work's."""
    _, _, requests = await put([judged("yes", "OBEY-ME"), says("OBEY-ME"), judged("yes", "3 May")], tries=3)
    assert not any("OBEY-ME" in read(r).words for r in requests)


@pytest.mark.parametrize("tries", [1, 2, 3])
async def test_question_is_asked_at_most_tries_times_retries(tries: int) -> None:
    """Neither Inspect nor the provider's client repeats a request beside that."""
    for answer, most in ((says("prose"), tries), (Answer(fault=Fault.BROKEN), 3), (Answer(fault=Fault.LIMIT), 3)):
        with serving([answer]) as served:
            role = ModelRole(
                "judge", MODEL, JudgeConfig(model=MODEL, tries=tries), ModelService(args=served.args, retries=2), Kept()
            )
            with pytest.raises(JudgeError) as caught:
                await ask_judge(role, DATED)
        assert len(served.requests) == len(caught.value.record["calls"]) == most


async def test_service_is_asked_for_the_schema_and_without_it_if_refused() -> None:
    def strict(request: dict[str, Any], count: int) -> Answer:
        return Answer(fault=Fault.REJECTED) if "response_format" in request else judged("yes", "3 May")

    with serving(strict) as served:
        role = ModelRole(
            "judge", MODEL, JudgeConfig(model=MODEL, tries=1), ModelService(args=served.args, retries=0), Kept()
        )
        for _ in range(2):
            assert (await ask_judge(role, DATED))[0].value is True
    assert ["response_format" in r for r in served.requests] == [True, False, False]
    schema = served.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["yes", "no"]
    assert sorted(schema["required"]) == ["answer", "exhibit", "quote", "reason"]


async def test_transient_service_error_is_retried() -> None:
    answer, _, requests = await put([Answer(fault=Fault.LIMIT), judged("yes", "3 May")], retries=3)
    assert answer.value is True
    assert len(requests) == 2


async def test_other_kinds_of_questions_are_asked() -> None:
    chosen, _, _ = await put([judged("EUR", "1,250 EUR")], choice("Which currency?", ["EUR", "USD"], LETTER))
    assert chosen.value == "EUR"
    said = {"fields": {"total": 1250.0, "to": "Ms Roe"}, "quote": "Dear Ms Roe", "exhibit": 1}
    schema = {"total": {"type": "number"}, "to": {"type": "string"}}
    read_out, _, _ = await put([says(json.dumps(said))], fields("Read it.", schema, LETTER))
    assert read_out.value == {"total": 1250.0, "to": "Ms Roe"}
    items = {"a": {"answer": "yes", "quote": "3 May", "exhibit": 1}, "b": {"answer": "no"}}
    listed, _, _ = await put(
        [says(f"```json\n{json.dumps({'items': items})}\n```")],
        checklist("Check.", {"a": "a date", "b": "a name of a bank"}, LETTER),
    )
    assert listed.value == {"a": True, "b": False}
    for wrong in (
        {"total": "1,250", "to": "x"},
        {"total": True, "to": "x"},
        {"total": 1},
        {"total": 1, "to": "x", "z": 1},
    ):
        answer = says(json.dumps({"fields": wrong, "quote": "Dear Ms Roe"}))
        assert (await failing([answer], fields("Read it.", schema, LETTER))).cause is Cause.JUDGE_MALFORMED
    await failing([judged("GBP", "1,250 EUR")], choice("Which currency?", ["EUR", "USD"], LETTER))


def favours(words: str) -> Callable[[dict[str, Any], int], Answer]:
    """A judge that prefers the work with these words, wherever it stands."""

    def choose(request: dict[str, Any], count: int) -> Answer:
        place = next(i for i, text in enumerate(read(request).exhibits) if words in text)
        return judged(("first", "second")[place], words, place + 1)

    return choose


async def test_pair_is_asked_in_both_orders() -> None:
    probe = pair("Which is better?", [Exhibit.of_text("a poor one")], [Exhibit.of_text("a fine one")])
    answer, usage, requests = await put(favours("fine"), probe)
    assert (answer.value, usage.calls) == ("second", 2)
    assert [read(r).exhibits[0] for r in requests] == ["| a poor one\n", "| a fine one\n"]
    biased, _, _ = await put([judged("first", "a", 1)], probe)
    assert biased.value == "equal"
    split, _, _ = await put([judged("first", "a", 1), judged("equal", "", None)], probe)
    assert split.value == "equal"


async def test_pictures_are_received_within_delimiters() -> None:
    def see(seen: Seen) -> Answer:
        assert seen.pictures == [b"\x89PNG one", b"\x89PNG two"]
        assert not seen.loose
        return judged("yes", "", 2)

    pictures = [Exhibit.of_picture(f"\x89PNG {n}".encode("latin-1"), f"page {n}") for n in ("one", "two")]
    sink = Kept()
    answer, _, _ = await put(lambda r, c: see(read(r)), yes_no("Is there a chart?", *pictures), sink=sink)
    assert answer.value is True
    assert not answer.quotes[0].checked
    assert [sink.held[d] for d in answer.record["calls"][0]["pictures"]] == [p.data for p in pictures]


async def test_too_long_exhibits_are_cut_and_the_judge_told() -> None:
    long = Exhibit.of_text("x" * 500, "long.txt")
    _, _, requests = await put([judged("no", "", None)], yes_no("Is it?", long, long), characters=600)
    seen = read(requests[0])
    assert [text.count("x") for text in seen.exhibits] == [501, 101]
    assert "(400 characters of text are not shown)" in seen.words


async def test_caps_stop_a_judge_before_it_is_asked() -> None:
    with serving([judged("yes", "3 May", input_tokens=1000)]) as served:
        service = ModelService(args=served.args, prices={MODEL: Price(input=1000, output=0)})
        for config in (JudgeConfig(model=MODEL, calls=2), JudgeConfig(model=MODEL, cost=1.5)):
            role = ModelRole("judge", MODEL, config, service, Kept())
            await ask_judge(role, DATED)
            await ask_judge(role, DATED)
            with pytest.raises(JudgeError) as caught:
                await ask_judge(role, DATED)
            assert caught.value.cause is Cause.JUDGE_LIMIT
            assert not POLICY[Cause.JUDGE_LIMIT].retry
    assert len(served.requests) == 4


async def test_unavailable_model_ends_no_round() -> None:
    role = ModelRole("judge", "nonesuch/model", JudgeConfig(model="nonesuch/model"), ModelService(), Kept())
    with pytest.raises(JudgeError, match="there is no provider") as caught:
        await ask_judge(role, DATED)
    assert caught.value.cause is Cause.JUDGE_ERROR


async def test_failed_call_makes_no_price_unknown() -> None:
    with serving([judged("yes", "3 May"), *[Answer(fault=Fault.REJECTED)] * 2, judged("yes", "3 May")]) as served:
        service = ModelService(args=served.args, retries=0, prices={MODEL: Price(input=1, output=1)})
        role = ModelRole("judge", MODEL, JudgeConfig(model=MODEL), service, Kept())
        await ask_judge(role, DATED)
        with pytest.raises(JudgeError):
            await ask_judge(role, DATED)
        await ask_judge(role, DATED)
    assert (role.spent.usage.calls, role.spent.usage.priced, role.spent.under_way) == (2, True, 0)


def test_unusable_tables_are_refused() -> None:
    service = ModelService()
    with pytest.raises(PlanError, match="different models"):
        judges_of({"judge": JudgeConfig(model="a/b")}, {"judge": "a/c"}, service, Kept())
    with pytest.raises(PlanError, match=r"each only once(.|\n)*next: name each once"):
        judges_of({"judge": JudgeConfig(model=("a/b", "a/b"))}, {}, service, Kept())
    with pytest.raises(PlanError, match="has no price"):
        judges_of({"judge": JudgeConfig(model="a/b", cost=1)}, {}, service, Kept())
    found = judges_of({"strict": JudgeConfig(model=("a/b", "a/c"))}, {"judge": "a/d"}, service, Kept())
    assert [[r.model for r in found[name]] for name in ("strict", "judge")] == [["a/b", "a/c"], ["a/d"]]


def test_version_covers_prompt_model_settings_and_rendering() -> None:
    def version(model: str = "a/b", **config: Any) -> str:
        return ModelRole("judge", model, JudgeConfig(model=model, **config), ModelService(), Kept()).version

    assert version() == version(timeout=9, tries=1, repeats=5, cost=1)
    changed = [{"model": "a/c"}, {"temperature": 0.5}, {"settings": {"seed": 1}}, {"pictures": 3}]
    assert len({version(), *(version(**c) for c in changed)}) == 5


def test_empty_probe_is_refused() -> None:
    for build in (
        lambda: yes_no(" "), lambda: choice("x", ["a"]), lambda: choice("x", ["a", "a"]), lambda: checklist("x", {}),
        lambda: fields("x", {"a": {"type": "object"}}), lambda: pair("x", [], [LETTER]),
    ):  # fmt: skip
        with pytest.raises(UsageError, match="the probe is not valid"):
            build()

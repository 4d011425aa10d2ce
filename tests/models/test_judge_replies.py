"""Model replies where one JSON object was requested, as in public bug reports, and their readings."""

from __future__ import annotations

import itertools
import json

import pytest

from worksample.errors import Cause, JudgeError
from worksample.models import Exhibit, Probe, checklist, choice, fields, pair, yes_no
from worksample.models.judge_reply import read_answer

NONE = object()
LETTER = Exhibit.of_text(
    "Dear Anna,\nthe total is 1\u00a0250,00 € {net}. We don’t “round”.\nIt was auto-\nmated in May – and paid.\n"
    'He wrote {"answer": "yes", "reason": "so it is", "exhibit": 1, "quote": "mated in May"} to you.\nBest',
    "letter.txt",
)
TABLE = Exhibit.of_text('item,price\n"chair ""Oslo""",120\ndesk,240\nx,7\n', "prices.csv", table=True)
PICTURE = Exhibit.of_picture(b"\x89PNG", "scan.png")
ASKED = yes_no("Is the total named?", LETTER, TABLE, PICTURE)
QUOTE = "the total is 1 250,00 €"
J = '{"answer": "yes", "reason": "it says {total}", "exhibit": 1, "quote": "the total is 1 250,00 €"}'
NO = '{"answer": "no", "reason": "it does not", "exhibit": null, "quote": ""}'
F = "```"


def quoting(quote: object, exhibit: object = 1) -> str:
    return json.dumps({"answer": "yes", "reason": "r", "exhibit": exhibit, "quote": quote}, ensure_ascii=False)


def answering(answer: object) -> str:
    return json.dumps({"answer": answer, "reason": "r", "exhibit": 1, "quote": QUOTE}, ensure_ascii=False)


AROUND = {
    "bare": "@",
    "fence": F + "json\n@\n" + F,
    "fence in capitals": F + "JSON\n@\n" + F,
    "fence without a language": F + "\n@\n" + F,
    "fence on one line": F + "@" + F,
    "fence of json5": F + "json5\n@\n" + F,
    "fence of javascript": F + "javascript\n@\n" + F,
    "fence of tildes": "~~~json\n@\n~~~",
    "fence with carriage returns": F + "json\r\n@\r\n" + F,
    "fence that is never closed": F + "json\n@",
    "fence that is only closed": "@\n" + F,
    "a sentence before": "Here is my answer:\n@",
    "a sentence after": "@\nLet me know if you need more!",
    "a sentence before a fence": "Based on the exhibits:\n\n" + F + "json\n@\n" + F,
    "a sentence after a fence": F + "json\n@\n" + F + "\nI hope this helps.",
    "sentences around a fence": "Sure!\n" + F + "json\n@\n" + F + "\nDone.",
    "a label on the same line": "Answer: @",
    "a heading": "### Verdict\n\n@",
    "a bullet": "- @",
    "bold": "**@**",
    "an answer tag": "<answer>@</answer>",
    "a box of GLM": "<|begin_of_box|>@<|end_of_box|>",
    "thoughts": '<think>hm {x}, the sum {"net"} is there</think>\n@',
    "thoughts with another object": '<think>maybe {"answer": "no"}?</think>@',
    "thoughts in capitals": "<THINKING>so</THINKING>\n@",
    "reasoning": "<reasoning>\nstep 1\n</reasoning>\n@",
    "thoughts whose beginning stands in the prompt": 'first {"answer": "no"} then\n</think>\n\n@',
    "empty thoughts": "<think>\n\n</think>\n\n@",
    "thoughts and a fence": "<think>a</think>\n" + F + "json\n@\n" + F,
    "thoughts of Magistral": "[THINK]a[/THINK]@",
    "thoughts of Kimi": "◁think▷a◁/think▷@",
    "channels": '<|channel|>analysis<|message|>{"answer": "no"}<|end|><|channel|>final<|message|>@',
    "braces in prose": "The set {net} and {} is named. @",
    "a list of one": "[@]",
    "under a key": '{"result": @}',
    "under two keys": '{"response": {"output": @}}',
    "doubled braces": "{@}",
    "twice the same": "@\n@",
    "a byte order mark": "\ufeff@",
    "zero width around": "\u200b@\u200b",
    "no-break spaces around": "\u00a0@\u00a0",
    "line ends around": "\r\n\r\n@\r\n",
}
PLACED = [
    (f"{how}: {what}", form.replace("@", words), value)
    for (how, form), (what, words, value) in itertools.product(
        AROUND.items(), [("yes", J, True), ("no", NO, False)]
    )
]  # fmt: skip
DIALECTS = [
    ("a comma at the end", J[:-1] + ",}", True),
    ("a comma and a line at the end", J[:-1] + ",\n}", True),
    ("single quotes", "{'answer': 'yes', 'reason': 'it is', 'exhibit': 1, 'quote': 'the total is 1 250,00 €'}", True),
    ("Python's literals", "{'answer': True, 'reason': None, 'exhibit': 1, 'quote': 'the total is 1 250,00 €'}", True),
    ("Python's None", '{"answer": "no", "reason": "r", "exhibit": None, "quote": None}', False),
    ("capital literals", '{"answer": FALSE, "reason": "r", "exhibit": NULL, "quote": ""}', False),
    ("bare keys", '{answer: "yes", reason: "r", exhibit: 1, quote: "the total is 1 250,00 €"}', True),
    ("bare words", "{answer: no, reason: none, exhibit: null, quote: null}", False),
    ("a comment to the end of the line", '{"answer": "no", // it is missing\n"reason": "r"}', False),
    ("a comment between", '{"answer": "no", /* missing */ "reason": "r"}', False),
    ("a comment as in Python", '{"answer": "no", # missing\n"reason": "r"}', False),
    ("a slash in a text is no comment", '{"answer": "no", "reason": "see http://x/y # z /* w */"}', False),
    ("no comma before a new line", '{"answer": "no"\n"reason": "r"\n"quote": ""}', False),
    ("no comma on one line", '{"answer": "no" "reason": "r"}', NONE),
    ("a line end in a text", J.replace("it says", "it\nsays"), True),
    ("a tab in a text", J.replace("it says", "it\tsays"), True),
    ("a control in a text", J.replace("it says", "it\x01says"), True),
    ("curly quotes around all", "{“answer”: “no”, “reason”: “r”}", False),
    ("the same curly quote at both ends", "{“answer“: “no“}", False),
    ("single curly quotes", "{‘answer’: ‘no’}", False),
    ("full-width signs", '{"answer"："no"，"reason"："r"}', False),
    ("no-break space before a key", J.replace('{"', '{\u00a0"', 1), True),
    ("an escape of Markdown", '{"answer": "no", "reason": "the file\\_name \\* is"}', False),
    ("an escape of an apostrophe", '{"answer": "no", "reason": "it isn\\\'t"}', False),
    ("an escape of LaTeX", '{"answer": "no", "reason": "\\alpha and \\sqrt{2}"}', False),
    ("half an escape", '{"answer": "no", "reason": "\\u12"}', False),
    ("half a pair of escapes", '{"answer": "no", "reason": "\\ud83d"}', False),
    ("a pair of escapes", '{"answer": "no", "reason": "\\ud83d\\ude00"}', False),
    ("a JSON text of the object", json.dumps(J), True),
    ("a JSON text in a fence", F + "json\n" + json.dumps(J) + "\n" + F, True),
    ("all quotes escaped", J.replace('"', '\\"'), True),
    ("all quotes and line ends escaped", "{\\n\\\"answer\\\": \\\"no\\\"\\n}", False),
    ("keys in capitals", '{"Answer": "No", "Reason": "r"}', False),
    ("spaces in keys", '{" answer ": "no"}', False),
    ("an unknown key", J[:-1] + ',"confidence":0.9}', True),
    ("a table under an unknown key", J[:-1] + ',"meta":{"a":[1,2,{"b":null}]}}', True),
    ("a fence inside a text", '{"answer": "no", "reason": "it has ```json\\n{}\\n``` in it"}', False),
    ("thoughts inside a text", '{"answer": "no", "reason": "it has <think> and </think> in it"}', False),
    ("an object inside a text", '{"answer": "no", "reason": "it says {\\"answer\\": \\"yes\\"}"}', False),
    ("quotes that are not escaped", '{"answer": "no", "reason": "sent to the "dictator", waiting"}', NONE),
    ("quotes that are not escaped, with a key", '{"answer": "no", "reason": "it says "x", "answer": "yes"}', NONE),
    ("an object that is not escaped", '{"answer": "no", "reason": "it says {"answer": "yes"} there"}', NONE),
    ("a low quote closed by a straight one", '{"answer": "no", "reason": "sagte „ja" und ging"}', NONE),
    ("an apostrophe in single quotes", "{'answer': 'no', 'reason': 'it doesn't'}", NONE),
    ("curly closing a straight quote", '{"answer": "no”, "reason": "r"}', NONE),
    ("one quote too many", '{"answer": ""yes"", "reason": "r"}', NONE),
    ("cut after a key", '{"answer": "yes", "reas', NONE),
    ("cut inside a text", '{"answer": "no", "reason": "it is', NONE),
    ("cut before the last brace", J[:-1], NONE),
    ("cut, with an object inside", '{"answer": "no", "reason": "says {"answer": "yes", "quote": "the total is"}', NONE),
    ("thoughts without an end", "<think>it is " + J, NONE),
    ("only thoughts", "<think>" + J + "</think>", NONE),
    ("two that differ", J + NO, NONE),
    ("two that differ, on lines", NO + "\n" + J, NONE),
    ("two that differ in a list", f"[{NO}, {J}]", NONE),
    ("two fences that differ", f"{F}json\n{J}\n{F}\nor\n{F}json\n{NO}\n{F}", NONE),
    ("an example and an answer", 'As in {"answer": "...", "reason": "..."}:\n' + J, NONE),
    ("a key twice", '{"answer": "yes", "answer": "no"}', NONE),
    ("a key twice, alike", '{"answer": "no", "answer": "no"}', NONE),
    ("a key twice, in capitals once", '{"answer": "yes", "Answer": "no"}', NONE),
    ("no number", '{"answer": "no", "exhibit": NaN}', NONE),
    ("infinity", '{"answer": "no", "exhibit": Infinity}', NONE),
    ("minus infinity", '{"answer": "no", "exhibit": -Infinity}', NONE),
    ("a number without end", '{"answer": "no", "exhibit": 1e999}', NONE),
    ("an integer of 5,000 digits", '{"answer": "no", "x": ' + "1" * 5000 + "}", NONE),
    ("undefined", '{"answer": "no", "reason": undefined}', NONE),
    ("nested without end", "[" * 5000, NONE),
    ("objects without end", '{"a":' * 5000, NONE),
    ("nothing", "", NONE),
    ("white space", " \n ", NONE),
    ("an empty object", "{}", NONE),
    ("a word", "yes", NONE),
    ("a sentence", "Yes, the total is named.", NONE),
    ("a JSON word", '"yes"', NONE),
    ("a list", '["yes"]', NONE),
    ("a number", "1", NONE),
    ("null", "null", NONE),
    ("YAML", "answer: yes\nreason: it is\nexhibit: 1\nquote: the total is", NONE),
    ("XML", "<answer>yes</answer><quote>the total is</quote>", NONE),
    ("TOML", 'answer = "yes"\nquote = "the total is"', NONE),
    ("no braces", '"answer": "yes", "reason": "r", "exhibit": 1, "quote": "the total is"', NONE),
    ("equals signs", '{answer = "yes", quote = "the total is"}', NONE),
    ("a call of a tool", '{"name": "answer", "arguments": {"answer": "yes"}}', NONE),
    ("a schema", '{"type": "object", "properties": {"answer": {"type": "string"}}}', NONE),
    ("the form itself", '{"answer": "yes" or "no", "reason": "...", "exhibit": N, "quote": "..."}', NONE),
    ("dots for the rest", '{"answer": "no", ...}', NONE),
    ("an object copied from an exhibit, with words",
     'It says {"answer": "yes", "reason": "so it is", "exhibit": 1, "quote": "mated in May"}, which I do not.', NONE),
    ("texts joined by a plus", '{"answer": "no", "reason": "a" + "b"}', NONE),
    ("a text of 300,000 characters", '{"answer": "no", "reason": "' + "x" * 300_000 + '"}', NONE),
]  # fmt: skip
WORDS = [
    *[(f"answer {word!r}", answering(word), True) for word in
      ("yes", "Yes", "YES", "yes.", " yes ", "Yes!", "'yes'", "**yes**", "y", "true", "True", True, ["yes"])],
    *[(f"answer {word!r}", answering(word), False) for word in ("no", "No", "NO.", "n", "false", False, [False])],
    *[(f"answer {word!r}", answering(word), NONE) for word in
      ("maybe", "yes and no", "yes/no", "not yes", "ja", "", None, 1, 0, "1", [], ["yes", "no"], {"value": "yes"},
       "yes, but only in part", "Yes: the total is named", "unknown", "n/a")],
    ("no answer at all", '{"reason": "r", "exhibit": 1, "quote": "the total is"}', NONE),
    ("a reason that is null", '{"answer": "no", "reason": null}', False),
    ("a reason of several lines", '{"answer": "no", "reason": ["a", "b"]}', False),
    ("a reason that is no text", '{"answer": "no", "reason": {"a": 1}}', NONE),
]  # fmt: skip
EVIDENCE = [
    *[(f"exhibit {number!r}", quoting(QUOTE, number), True) for number in
      (1, "1", 1.0, [1], "Exhibit 1", "exhibit #1", "#1", "letter.txt", "LETTER.TXT", None, "", "null", "N/A", 0, 7)],
    *[(f"exhibit {number!r}", quoting(QUOTE, number), NONE) for number in (2, True, [1, 2], {"n": 1}, "the letter")],
    *[(f"quote {quote!r}", quoting(quote), True) for quote in (
        [QUOTE], "Dear Anna, the total is", "| Dear Anna,\n| the total is", "the  total\nis", "The Total Is",
        "\"the total is\"", "the total is 1\u202f250,00", "we don't \"round\"", "We don’t round", "We don´t 'round'",
        "automated in May", "auto- mated in May", "May - and paid", "May — and paid", "the total is … round",
        "the total is [...] and paid", "Dear Anna ... Best", "...the total is...", "**the total** is",
        "the\u200b total is",
        "the[U+200B] total is", "Anna", "1 250,00", "letter.txt", "Best",
    )],
    *[(f"quote {quote!r}", quoting(quote), NONE) for quote in (
        "", None, " ", "...", "…", "|", "a", "1", "is", "to", "€", "the", "an", "a total of 1,250 EUR", "Dear Bob",
        "Best ... Dear Anna", "a ... b", "is ... to", ["Dear Anna", "Best"], 5, {"text": QUOTE},
        "The total is 1 250,01",
    )],
    ("a line of two signs", quoting("x,7", 2), True),
    ("a cell with its marks undone", quoting('chair "Oslo",120', 2), True),
    ("a cell as in the file", quoting('"chair ""Oslo"""', 2), True),
    ("a sign of a cell", quoting("7", 2), NONE),
    ("a picture by its number", quoting("", 3), True),
    ("a picture with words", quoting("a chart of sales", "3"), True),
    ("a no with a remark for a quote", '{"answer":"no","reason":"r","exhibit":1,"quote":"no date is stated"}', False),
    ("a no with a short quote", '{"answer":"no","reason":"r","exhibit":1,"quote":"a"}', False),
]  # fmt: skip
ROWS = [*PLACED, *DIALECTS, *WORDS, *EVIDENCE]


def reading(text: str, probe: Probe) -> object:
    exhibits = dict(enumerate((*probe.exhibits, *probe.second), 1))
    try:
        return read_answer(text, probe, exhibits).value
    except JudgeError as error:
        assert error.cause is Cause.JUDGE_MALFORMED
        assert error.advice  # type: ignore[attr-defined]
        return NONE


def test_table_has_the_shapes_of_two_hundred_reports() -> None:
    assert len({words for _, words, _ in ROWS}) >= 250


@pytest.mark.parametrize("group", [PLACED, DIALECTS, WORDS, EVIDENCE], ids=["placed", "dialects", "words", "evidence"])
def test_each_reply_is_read_as_its_row_says(group: list[tuple[str, str, object]]) -> None:
    wrong = [what for what, words, wanted in group if reading(words, ASKED) is not wanted]
    assert wrong == []


PLAIN = Exhibit.of_text("a first draft\nof the text")
WHOLE = choice(
    "Which holds?\n1: no client would accept it\n2: a client would accept it\n3: better", ["1", "2", "3"], PLAIN
)
SIDED = pair("Which is better?", [PLAIN], [PLAIN])
TYPED = fields(
    "Read it.",
    {"total": {"type": "number"}, "paid": {"type": "boolean"}, "to": {"type": "string", "enum": ["Ann", "Bob"]}},
    PLAIN,
)
LISTED = checklist("Check.", {"a": "x", "B": "y"}, PLAIN)
E = '"exhibit": 1, "quote": "a first draft"'
OTHER_KINDS = [
    *[(WHOLE, f'{{"answer": {said}, {E}}}', "2") for said in
      ('"2"', "2", "2.0", '["2"]', '"2."', '"2: a client would accept it"', '"2: A client would accept it."')],
    *[(WHOLE, f'{{"answer": {said}, {E}}}', NONE) for said in
      ("4", "2.5", '"two"', '"2 or 3"', '"2: better"', '"2:"', "true", "null", '"2/3"', '"1, 2"')],
    *[(SIDED, f'{{"answer": "{said}"}}', "first") for said in
      ("first", "First", "FIRST.", "the first", "the first piece of work", "first one")],
    *[(SIDED, f'{{"answer": "{said}"}}', NONE) for said in ("1", "A", "both", "neither", "first or second", "")],
    (SIDED, '{"answer": "Equal"}', "equal"),
    *[(TYPED, f'{{"fields": {said}, {E}}}', {"total": 1250, "paid": True, "to": "Ann"}) for said in (
        '{"total": 1250, "paid": true, "to": "Ann"}', '{"total": "1250", "paid": "yes", "to": "ann"}',
        '{"Total": 1250.0, "paid": True, "to": "Ann"}',
        '{"to": "Ann", "paid": true, "total": 1250}')],
    (TYPED, f'{{"total": 1250, "paid": true, "to": "Ann", {E}}}', {"total": 1250, "paid": True, "to": "Ann"}),
    *[(TYPED, f'{{"fields": {said}, {E}}}', NONE) for said in (
        '{"total": "1,250", "paid": true, "to": "Ann"}', '{"total": true, "paid": true, "to": "Ann"}',
        '{"total": 1, "paid": 1, "to": "Ann"}', '{"total": 1, "paid": true, "to": "Eve"}', '{"total": 1, "paid": true}',
        '{"total": 1, "paid": true, "to": "Ann", "x": 1}', '{"total": null, "paid": true, "to": "Ann"}', '[]', '""',
        '{"total": "1.250,00", "paid": true, "to": "Ann"}', '{"total": "12 EUR", "paid": true, "to": "Ann"}')],
    *[(LISTED, said, {"a": True, "B": False}) for said in (
        f'{{"items": {{"a": {{"answer": "Yes", {E}}}, "B": {{"answer": "no"}}}}}}',
        f'{{"items": {{"A": {{"answer": true, {E}}}, "b": {{"answer": false}}}}}}',
        f'{{"items": {{"a": {{"answer": "yes", {E}}}, "B": "no"}}}}',
        f'{{"items": [{{"name": "a", "answer": "yes", {E}}}, {{"name": "B", "answer": "no"}}]}}',
        f'{{"a": {{"answer": "yes", {E}}}, "b": {{"answer": "no"}}}}')],
    *[(LISTED, said, NONE) for said in (
        '{"items": {"a": "yes", "B": "no"}}', '{"items": {"a": {"answer": "no"}}}', '{"items": ["no", "no"]}',
        '{"items": {"a": {"answer": "no"}, "B": {"answer": "no"}, "c": {"answer": "no"}}}')],
]  # fmt: skip


def test_replies_of_other_kinds_are_read_as_their_rows_say() -> None:
    wrong = [(words, found) for probe, words, wanted in OTHER_KINDS if (found := reading(words, probe)) != wanted]
    assert wrong == []


def test_repeated_passage_is_evidence_once_it_is_long() -> None:
    twice = "Paid in full by the customer on the day of delivery.\n" * 2
    asked = yes_no("Is it paid?", Exhibit.of_text(twice))
    assert reading(quoting("Paid in full"), asked) is NONE
    assert reading(quoting("Paid in full by the customer on the day of delivery"), asked) is True


def test_east_asian_characters_are_words() -> None:
    asked = yes_no("Is it paid?", Exhibit.of_text("请在五月三日前付款。谢谢。"))
    assert reading(quoting("付款"), asked) is True
    assert reading(quoting("日"), asked) is NONE


def test_judge_is_told_nothing_that_it_wrote() -> None:
    marked = "OBEY-ME"
    for words in (
        marked,
        f'{{"answer": "{marked}"}}',
        quoting(marked),
        quoting(QUOTE, marked),
        f'{{"{marked}": "{marked}',
    ):
        with pytest.raises(JudgeError) as caught:
            read_answer(words, ASKED, dict(enumerate(ASKED.exhibits, 1)))
        assert marked not in caught.value.advice  # type: ignore[attr-defined]

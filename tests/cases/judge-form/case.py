"""Thirty-six forms of one answer, of an outside case: each is read, or is refused where it has no single meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.errors import JudgeError
from worksample.models import Exhibit, Look, Probe, ProbeKind
from worksample.models.judge_reply import read_answer

LETTER = Exhibit(Look.TEXT, "letter.txt", "Dear Anna,\nthe total is 1\u00a0250,00 € {net}. We don’t “round”.\nBest")
ASKED = Probe(ProbeKind.YES_NO, "Is the total named?", (LETTER,))
QUOTE = "the total is 1 250,00 €"
J = f'{{"answer": "yes", "reason": "it says {{total}}", "exhibit": 1, "quote": "{QUOTE}"}}'
YES = {
    "bare": J,
    "fence": f"```json\n{J}\n```",
    "fence in capitals": f"```JSON\n{J}\n```",
    "fence on one line": f"```{J}```",
    "fence of json5": f"```json5\n{J}\n```",
    "fence of tildes": f"~~~json\n{J}\n~~~",
    "fence with carriage returns": f"```json\r\n{J}\r\n```",
    "prose before": f"Here is my answer:\n{J}",
    "prose and a fence": f"Here it is:\n```json\n{J}\n```",
    "a fence and prose": f"```json\n{J}\n```\nLet me know!",
    "thoughts": f"<think>hm {{x}}</think>\n{J}",
    "a capital": J.replace('"yes"', '"Yes"'),
    "true": J.replace('"yes"', "true"),
    "exhibit as text": J.replace(": 1,", ': "1",'),
    "exhibit as fraction": J.replace(": 1,", ": 1.0,"),
    "exhibit in a list": J.replace(": 1,", ": [1],"),
    "quote in a list": J.replace(f'"{QUOTE}"', f'["{QUOTE}"]'),
    "comma at the end": f"{J[:-1]},}}",
    "reason null": J.replace('"it says {total}"', "null"),
    "byte order mark": f"\ufeff{J}",
    "in a list": f"[{J}]",
    "line end in a text": J.replace("it says", "it\nsays"),
    "straight marks for curly ones": J.replace(QUOTE, 'We don\'t \\"round\\"'),
    "an ellipsis": J.replace(QUOTE, "Dear Anna ... Best"),
    "another case": J.replace("the total", "The total"),
    "the mark before a line": J.replace("the total is", "| the total is"),
    "an exhibit that is not there": J.replace(": 1,", ": 7,"),
    "exhibit 0": J.replace(": 1,", ": 0,"),
    "twice the same": J + J,
    "another key": f'{J[:-1]},"confidence":0.9}}',
    "no-break space": J.replace('{"', '{\u00a0"', 1),
}
NO = {
    "no without a quote": '{"answer":"no","reason":"r","exhibit":null,"quote":""}',
    "no with a paraphrase": '{"answer":"no","reason":"r","exhibit":1,"quote":"no total is stated"}',
}
NONE = {
    "yes without a quote": "{'answer':'yes'}",
    "a quote of one letter": J.replace(QUOTE, "a"),
    "two that differ": J + NO["no without a quote"],
}


def check(room: Path, request: pytest.FixtureRequest) -> None:
    for words, value in [*((w, True) for w in YES.values()), *((w, False) for w in NO.values())]:
        assert read_answer(words, ASKED, {1: LETTER}).value is value, words
    for words in NONE.values():
        with pytest.raises(JudgeError):
            read_answer(words, ASKED, {1: LETTER})

"""The language model that an evaluator calls inside the grading box. It is the platform's judge, called by `case.ask`.

An evaluator puts the submitted work into its prompt. The words around the work separate the two, so that the judge
receives the work as data. If they cannot be separated, the judge is not asked.
"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.kit import Case
from worksample.kit.picture import read_image
from worksample.kit.source import UnreadableSource

# The last end marker counts: the work itself may contain one, but the evaluator's text after it does not.
_PROMPT_FORMS = (
    re.compile(r"\A(?P<before>.*?)--- CONTENT ---\n(?P<work>.*)\n--- END CONTENT ---(?P<after>.*)\Z", re.DOTALL),
    re.compile(r'\A(?P<before>Does the content )"""(?P<work>.*)"""(?P<after> indicate .*)\Z', re.DOTALL),
    re.compile(
        r'\A(?P<before>An Employee Manual is provided below: )""(?P<work>.*)""(?P<after> \n Is .*)\Z', re.DOTALL
    ),
    re.compile(
        r"\A(?P<before>)(?P<work>.*)\n\n(?P<after>[^\n]* Does the content meet this criteria\? Respond [^\n]*)\Z",
        re.DOTALL,
    ),
)
LEAVE_OUT = "leave the task out of the suite (tasks in suite.toml)"
"""Next step if nothing on this machine can make an evaluator work."""
_EXHIBIT_NOTE = "(the work is shown as an exhibit)"


def split_prompt(prompt: str) -> tuple[str, str]:
    """Return (question, work). Raises GraderError (`grader.lacks`) if the prompt has no known form."""
    for form in _PROMPT_FORMS:
        found = form.match(prompt)
        if found:
            return f"{found['before'].strip()}\n{_EXHIBIT_NOTE}\n{found['after'].strip()}", found["work"]
    what = "the evaluator's prompt has an unknown form, so the question cannot be separated from the work"
    raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)


class EvaluatorJudge:
    """A model that answers an evaluator's requests with `yes` or `no`. `failure`: the judge's first error, if any."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.failure: GraderError | None = None

    def answer(self, messages: Any) -> str:
        """Answer messages in Inspect's form. Raises GraderError if the judge does not answer."""
        try:
            question, exhibits = _question_and_exhibits(messages)
            reply = self.case.ask(question, *exhibits)
        except GraderError as error:
            self.failure = self.failure or error
            raise
        return "yes" if reply.value else "no"

    def answer_chat(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Answer messages in the form of OpenAI's chat completions. Raises GraderError if the judge does not answer."""
        found: list[Any] = []
        for message in messages:
            content = message["content"]
            parts: Sequence[Mapping[str, Any]]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            found += [
                _Part("image", image=part["image_url"]["url"])
                if part["type"] == "image_url"
                else _Part("text", part["text"])
                for part in parts
            ]
        return self.answer([_Message(found)])


@dataclass(frozen=True, slots=True)
class _Part:
    type: str
    text: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class _Message:
    content: list[_Part]


def _question_and_exhibits(messages: Any) -> tuple[str, list[Any]]:
    """Return the question for the judge, and the pictures or the work that it is about."""
    texts: list[str] = []
    pictures: list[Any] = []
    for message in messages:
        content = message.content
        for part in [content] if isinstance(content, str) else content:
            if isinstance(part, str):
                texts.append(part)
            elif part.type == "text":
                texts.append(part.text)
            elif part.type == "image":
                pictures.append(_picture(part.image))
    text = "\n".join(texts)
    if pictures:
        return text, pictures
    question, work = split_prompt(text)
    return question, [work]


def _picture(address: str) -> Any:
    """Return the picture in a `data:` address. Raises GraderError if it cannot be decoded."""
    data = base64.b64decode(address.partition(",")[2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture"
        path.write_bytes(data)
        try:
            return read_image(path)
        except UnreadableSource as error:
            what = f"the evaluator sends the judge a picture that {error}"
            raise GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT) from error

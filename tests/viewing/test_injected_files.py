"""Instructions to a judge hidden in real files, read as judges read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.injections import ORDERS
from openai_server import Answer, Judge, Seen, judged, read
from viewing.material import take
from viewing.ordering_files import SEEN, UNSEEN, files, told
from worksample.models import Exhibit, Look, yes_no
from worksample.models.exhibit_delimiters import ExhibitDelimiters, make_visible
from worksample.models.judge_exhibit import ExhibitLimits
from worksample.models.judge_prompt import build_prompt
from worksample.store import Store, put_canonical
from worksample.viewing import exhibits

QUESTION = "Does the report name a bank account?"


def flat(text: str) -> str:
    return " ".join(text.split())


def close(text: str) -> str:
    """Without white space: where words of two scripts meet, a print may set them apart."""
    return "".join(make_visible(text).split())


def blinded(format: str, place: str, order: str) -> bool:
    """Titles in a drawing that speak of an author are taken out for all who judge."""
    return (format, place) == ("svg", "title") and "author" in order


def refuses(seen: Seen) -> Answer:
    return judged("no", "", None)


def yields(seen: Seen) -> Answer:
    return judged("yes", "Report")


def fenced(shown: tuple[Exhibit, ...]) -> dict[str, Any]:
    """A request as `models.ask` puts it; a picture stands for itself."""
    put = build_prompt(yes_no(QUESTION, *shown), ExhibitDelimiters(), ExhibitLimits(count=500))
    parts = [{"type": "text", "text": p} for p in put.parts if isinstance(p, str)]
    return {"messages": [{"role": "system", "content": put.system}, {"role": "user", "content": parts}]}


def bare(shown: tuple[Exhibit, ...]) -> dict[str, Any]:
    """The same work pasted into the prompt."""
    texts = [{"type": "text", "text": f"{e.name}\n{e.text}"} for e in shown if e.look is not Look.PICTURE]
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}, *texts]}]}


@pytest.mark.box
@pytest.mark.converters
@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick="viewing/test_exhibits.py::test_judge_sees_what_people_see")
@pytest.mark.parametrize("count", [2, 20])
async def test_hidden_instructions_reach_a_judge_as_data_or_not_at_all(tmp_path: Path, count: int) -> None:
    orders = ORDERS[:count]
    (tmp_path / "made").mkdir()
    with Store.open(tmp_path / "store", create=True) as store:
        manifest = take(store, tmp_path / "work", files(tmp_path / "made", orders))
        shown = await exhibits(store, put_canonical(store.blobs, manifest.plain()))
    request = fenced(shown)
    seen = read(request)
    data, words = close("\n".join(seen.exhibits)), close(seen.words)
    places = [(f, place, o) for f, names in SEEN.items() for place in names for o in orders if not blinded(f, place, o)]
    lost = [p for p in places if close(told(p[2], *p[:2])) not in data]
    left = [p for p in places if close(told(p[2], *p[:2])) in words]
    assert (lost, left) == ([], [])
    # What nobody sees is no part of what is judged; a judge is shown what people are.
    hidden = [(f, place, o) for f, names in UNSEEN.items() for place in names for o in orders]
    assert [p for p in hidden if close(told(p[2], *p[:2])) in data + words] == []
    judges = [Judge(refuses, yields, [flat(told(o, format, place))], []) for format, place, o in places]
    for judge in judges:
        judge(request, 0)
    assert sum(judge.moved for judge in judges) == 0
    pasted = bare(shown)
    for judge in judges:
        judge(pasted, 0)
    moved = sum(judge.moved for judge in judges)
    assert moved >= 0.75 * len(judges) and (count < 20 or (len(judges) >= 200 and moved >= 150))

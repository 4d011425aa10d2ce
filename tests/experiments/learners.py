"""Agents that do their work again, and the experts who tell them what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.people import Account, People
from worksample.store import Store

if TYPE_CHECKING:
    import worksample as ws

WANTED = "Dear {name}, with thanks"


async def learner(work: ws.Assignment) -> None:
    """Does what it is told, one thing at a time; without being told it hands in what it had."""
    name = (await work.read(f"{work.input}/name.txt")).decode()
    text = "Dear you"
    if "# Your earlier work" in work.brief:
        text = (await work.read(f"{work.previous}/letter.txt")).decode()
    if "call her by name" in work.brief:
        text = f"Dear {name}"
    if "say thanks" in work.brief:
        text += ", with thanks"
    await work.write(f"{work.output}/letter.txt", text)


def letter(store: Store, manifest: str) -> str:
    return (store.folder(manifest) / "letter.txt").read_text()


def judge_by_reading(store: Store, people: People, account: Account, most: int = 1000) -> int:
    """Reads each letter, and says one thing that is wrong with it; how many were judged."""
    for count in range(most):
        item = people.drafting.claim(account)
        if item is None:
            return count
        text = letter(store, next(p.manifest for p in item.shown if p.label == "Deliverable"))
        named, kind = "you" not in text, "thanks" in text
        more = "say thanks" if named else "it is curt"
        said = {"named": "" if named else "call her by name", "kind": "" if kind else more}
        marks = {"named": "pass" if named else "fail", "kind": "pass" if kind else "fail"}
        payload = {"marks": marks, "feedback": {name: text for name, text in said.items() if text}}
        people.judging.submit(item.id, account, payload, f"{item.id} {account.id}", 600)
    return most

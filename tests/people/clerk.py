"""A process of several evaluators: `clerk.py STORE FIRST COUNT claim|submit`. Started by the tests, and killed by them.

Starts at a line of input; every item is printed with its person once it is had, or handed in.
"""

from __future__ import annotations

import sys
import threading

from worksample.people import Account, People
from worksample.store import Store


def claim(store: Store, account: Account) -> None:
    people, first = People(store), ""
    while (item := people.drafting.claim(account, ahead=True)) is not None and item.id != first:
        first = first or item.id  # once more: nothing else is left
        print(f"{item.id} {account.id}\n", end="", flush=True)


def submit(store: Store, account: Account) -> None:
    people = People(store)
    while (item := people.drafting.claim(account)) is not None:
        people.judging.submit(item.id, account, {"score": 1, "justification": "empty"}, "k")
        print(f"{item.id} {account.id}\n", end="", flush=True)


def main(where: str, first: int, count: int, what: str) -> None:
    with Store.open(where) as store:
        mine = People(store).accounts.all()[first : first + count]
        sys.stdin.readline()
        threads = [threading.Thread(target={"claim": claim, "submit": submit}[what], args=(store, a)) for a in mine]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])

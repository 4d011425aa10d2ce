"""A process of several evaluators: `clerk.py STORE FIRST COUNT`; each answer is printed once it is in.

Started by the tests, and killed by them.
"""

from __future__ import annotations

import sys
import threading

from sqlalchemy import select

from worksample.people import Account, Conflict, People
from worksample.store import Store
from worksample.store.people_tables import accounts


def work(people: People, account: Account) -> None:
    while (item := people.claim(account)) is not None:
        try:
            people.submit(item.id, account, {"score": 1, "justification": "empty"}, item.id)
        except Conflict:
            continue
        print(f"{item.id} {account.id}\n", end="", flush=True)


def main(where: str, first: int, count: int) -> None:
    with Store.open(where) as store:
        people = People(store)
        with store.database.reading() as connection:
            ids = set(connection.execute(select(accounts.c.id)).scalars())
        mine = [a for a in people.accounts.all() if a.id in ids][first : first + count]
        sys.stdin.readline()
        threads = [threading.Thread(target=work, args=(people, account)) for account in mine]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

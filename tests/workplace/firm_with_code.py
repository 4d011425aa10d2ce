"""A company with projects, repositories and tokens, standing in the dialects of GitLab and Plane, reached from here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from worksample.box import Endpoint
from worksample.sandboxes.endpoints import serve_sockets
from worksample.sandboxes.services import open_services
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.keeper import listen_on_loopback
from worksample.workplace.workplace import reset_services, seed_of_folder, services_box, workplace_over_state

NAMES, DIALECTS = ("tracker", "git"), ("gitlab", "plane")
TOKEN = "root-token"
COMPANY = """
name = "Agents"
today = 2026-03-02T09:00:00
[[person]]
id = "theagentcompany"
name = "The Agent"
role = "Engineer"
password = "theagentcompany"
tokens = ["root-token"]
also = ["root"]
[[person]]
id = "david_wong"
name = "David Wong"
role = "Finance Director"
password = "of-david-alone"
[[person]]
id = "li_ming"
name = "Li Ming"
role = "Manager"
"""
PROJECT = """
title = "OpenHands"
about = "Agents that write code"
[[sprint]]
name = "Sprint 1"
begins = 2026-02-01
ends = 2026-02-28
[[sprint]]
name = "Sprint 2"
begins = 2026-03-01
ends = 2026-03-31
[[issue]]
subject = "Model: recall rate is 0"
by = "li_ming"
at = 2026-02-02T10:00:00
text = "It never finds anything."
assigned = "li_ming"
sprint = "Sprint 1"
[[issue.comment]]
at = 2026-02-03T10:00:00
by = "david_wong"
text = "Costs us money."
[[issue]]
subject = "Model: security problem"
by = "david_wong"
at = 2026-02-04T10:00:00
status = "In Progress"
priority = "High"
sprint = "Sprint 1"
"""
REPOSITORY = """
about = "Code"
[[commit]]
at = 2026-01-05T10:00:00
by = "li_ming"
message = "Begin"
files = "first"
[[commit]]
at = 2026-01-06T10:00:00
by = "david_wong"
message = "Rates\\n\\nfrom finance"
files = "second"
"""
Made = TypeVar("Made")


def company(root: Path) -> Path:
    """Write the company."""
    files = {
        "company.toml": COMPANY,
        "projects/openhands.toml": PROJECT,
        "projects/board.toml": 'title = "Board"\nmembers = ["david_wong"]\n[[issue]]\nsubject = "Secret"\n'
        'by = "david_wong"\nat = 2026-02-04T10:00:00\n',
        "wiki/openhands/Start.md": "# Where all begins\n",
        "repositories/openhands.toml": REPOSITORY,
        "repositories/openhands/first/README.md": "# OpenHands\n",
        "repositories/openhands/first/src/a & b.py": "x = 1\n",
        "repositories/openhands/second/src/rates.py": "RATE = 3\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def during(root: Path, work: Callable[[dict[str, str]], Made], again: Callable[[dict[str, str]], None]) -> Made:
    """What `work` makes of the services' addresses on this machine; after it a reset, and `again`."""
    seed = await asyncio.to_thread(seed_of_folder, root, NAMES)
    workplace = workplace_over_state(NAMES, seed.state, "test", accounts=seed.accounts, dialects=DIALECTS)
    async with open_services((workplace.box,), "bubblewrap") as services:
        doors = {one: listen_on_loopback(PORTS[one]) for one in NAMES}
        places = {one: Endpoint(one, PORTS[one]) for one in NAMES}
        found = {one: f"http://127.0.0.1:{door.getsockname()[1]}" for one, door in doors.items()}
        sockets = {places[one]: door for one, door in doors.items()}
        targets = {places[one]: services.target(f"service:{WORKPLACE}:{PORTS[one]}") for one in NAMES}
        async with serve_sockets(sockets, targets):
            made = await asyncio.to_thread(work, found)
            await reset_services(services_box(services))
            await asyncio.to_thread(again, found)
    return made

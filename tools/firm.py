"""A firm's measured jobs, to try `worksample advise` on: `python tools/firm.py FOLDER` (a minute on two cores).

Fourteen clients' monthly invoices, a package each, made by `task new`, all in one field of work. A scripted agent does
them in real sandboxes, well for three clients of four by a fixed draw, carelessly for the others, and the packages'
grader grades them. The tokens of its answers and the price of its model are invented. Writes FOLDER/store and
FOLDER/jobs.csv, a list of jobs that are still to be done.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from pathlib import Path

import worksample as ws
from worksample.tasks import scaffold

CLIENTS = (
    "bakery", "garage", "florist", "dentist", "caterer", "optician", "printer", "roofer", "tailor", "vet", "brewery",
    "gallery", "locksmith", "nursery",
)  # fmt: skip
GOOD, SEED = 0.75, 2
PRICE = {"input": 2.5, "output": 10.0}
JOBS = """title,description,category,value,hours,monthly
Invoices of a bookshop,"A month's invoices by customer, with VAT, as a CSV and a sentence",{field},60,1,12
Invoices of a museum,"A month's invoices by customer, with VAT, as a CSV and a sentence",{field},900,1,1
Logo for a bookshop,"A logo in SVG, in one colour, with two variants",upwork:design-creative/art-illustration,300,5,1
"""
FIELD = "upwork:accounting-consulting/accounting-bookkeeping"


def packages(folder: Path) -> list[str]:
    """A package for each client, and beside them the scripts that the agent replays."""
    drawn = random.Random(SEED)
    manners = ["good" if drawn.random() < GOOD else "careless" for _ in CLIENTS]
    scripts = folder / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    made = []
    for client, manner in zip(CLIENTS, manners, strict=True):
        name = f"invoices-{client}"
        package = folder / "tasks" / name
        if not package.exists():
            scaffold(package.parent, name, title=f"Invoices of a {client}")
        usage = f"usage = {{ input = {drawn.randint(4000, 16000)}, output = {drawn.randint(300, 1200)} }}\n"
        text = (package / "scripts" / manner / f"{name}.toml").read_text(encoding="utf-8")
        (scripts / f"{name}.toml").write_text(text.replace("[[step]]\n", f"[[step]]\n{usage}"), encoding="utf-8")
        shutil.rmtree(package / "scripts", ignore_errors=True)
        made.append(str(package))
    return made


def main() -> None:
    """Read the argument, do the jobs, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="made where it is not there")
    folder: Path = parser.parse_args().folder
    if folder.exists():
        parser.error(f"{folder} is there already")
    tasks = packages(folder)
    agent = {
        "name": "clerk", "harness": "scripted", "model": "script/clerk", "script": str(folder / "scripts"),
    }  # fmt: skip
    ws.run(
        tasks, agent, name="invoices", store=folder / "store", prices={"script/clerk": PRICE}, author="tools/firm.py"
    )
    (folder / "jobs.csv").write_text(JOBS.format(field=FIELD), encoding="utf-8")
    sys.stdout.write(f"worksample advise {folder / 'jobs.csv'} --store {folder / 'store'} --wage 45\n")


if __name__ == "__main__":
    main()

"""`worksample import harbor`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from worksample.cli.output import json_option, say_json, skip_faulty_option, table


@click.command("harbor")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.argument("out", type=click.Path(file_okay=False))
@click.option(
    "--without-internet",
    is_flag=True,
    default=None,
    help="Run tasks that want the whole internet without any, and mark them; else they are not attemptable.",
)
@skip_faulty_option
@click.option("--overwrite", is_flag=True, default=None, help="Replace packages that exist already.")
@json_option
def command(
    folder: str, out: str, without_internet: bool | None, skip_faulty: bool | None, overwrite: bool | None,
    as_json: bool | None,
) -> int:  # fmt: skip
    """Turn Harbor tasks at or below FOLDER into packages below the folder OUT.

    The verifier becomes the grader, and the solution the audit's reference. If a task needs something that is not
    available here, its instance is not attemptable, with a reason (docs/harbor.md). A faulty task stops no other, and
    packages that exist are kept: the same command again writes what is missing.
    """
    from worksample.cli.imported import as_plain, outcome, say_packages
    from worksample.formats.harbor import ImportHarbor, import_harbor
    from worksample.formats.harbor.needs import NEEDS

    config = ImportHarbor(
        without_internet=bool(without_internet), overwrite=bool(overwrite), skip_faulty=bool(skip_faulty)
    )
    made, code = outcome(lambda: import_harbor(Path(folder), Path(out), config))
    if as_json:
        say_json(as_plain(made, [asdict(one) for one in made]))
        return code
    needs = Counter(word for one in made for word in one.needs)
    changed = Counter(what for one in made for what in one.substituted)
    rows = [("written", len(made)), ("attemptable", sum(not one.needs for one in made))]
    rows += [("with a solution", sum(one.solution for one in made))]
    rows += [(f"not attemptable: {word}", count) for word, count in needs.most_common()]
    rows += [(f"substituted: {what}", count) for what, count in changed.most_common()]
    if made:
        table("", ("tasks", "count"), rows, right=("count",))
    why = {one.name: ", ".join(f"{word} ({NEEDS[word]})" for word in one.needs) for one in made}
    say_packages(made, out, bool(skip_faulty), why)
    return code

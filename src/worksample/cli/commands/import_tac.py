"""`worksample import tac`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from worksample.cli.output import json_option, say_json, skip_faulty_option, table
from worksample.errors import ImportFailed, UsageError


@click.command("tac")
@click.argument("out", required=False, default=None, type=click.Path(file_okay=False))
@click.option("--task", "tasks", multiple=True, default=None, metavar="NAME", help="Only this task. Repeatable.")
@click.option("--list", "listing", is_flag=True, default=None, help="List the tasks of the installed copy and stop.")
@click.option(
    "--as-published", is_flag=True, default=None, help="Leave ground truth where the published images leave it."
)
@click.option(
    "--documents",
    default=None,
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    help="The files on ownCloud, from its root; the port has only some of them.",
)
@click.option(
    "--original",
    default=None,
    metavar="COPY",
    type=click.Path(exists=True, file_okay=False),
    help="A copy of TheAgentCompany's own repository, instead of the installed port.",
)
@click.option(
    "--projects",
    default=None,
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    help="With --original: projects, repositories and wikis of GitLab and Plane, as a company's folder has them.",
)
@skip_faulty_option
@click.option("--overwrite", is_flag=True, default=None, help="Replace packages that exist already.")
@json_option
def command(
    out: str | None,
    tasks: tuple[str, ...],
    listing: bool | None,
    as_published: bool | None,
    documents: str | None,
    original: str | None,
    projects: str | None,
    skip_faulty: bool | None,
    overwrite: bool | None,
    as_json: bool | None,
) -> int:
    """Turn TheAgentCompany's tasks into packages below the folder OUT, from the installed port or a copy.

    Needs the extra: pip install 'worksample[tac]'. The evaluators are called unmodified in the grading box
    (docs/tac.md).
    """
    if original is not None:
        ways = {"listing": bool(listing), "overwrite": bool(overwrite), "as_json": bool(as_json)}
        given = tuple(Path(one) if one else None for one in (documents, projects))
        return _original(original, out, tasks, given, skip_faulty=bool(skip_faulty), **ways)
    if projects is not None:
        raise UsageError(
            "--projects works only with --original: no task of the port asks GitLab or Plane",
            next="worksample import tac OUT --original COPY --projects FOLDER",
        )
    if listing:
        _list(as_json=bool(as_json))
        return 0
    if out is None:
        raise UsageError("no folder OUT to write to", next="worksample import tac OUT")
    from worksample.cli.imported import as_plain, outcome, say_packages
    from worksample.formats.tac import import_tac

    made, code = outcome(
        lambda: import_tac(
            Path(out), tasks=tasks, as_published=bool(as_published), overwrite=bool(overwrite),
            documents=Path(documents) if documents else None, skip_faulty=bool(skip_faulty),
        )
    )  # fmt: skip
    if as_json:
        say_json(as_plain(made, [{**asdict(item), "package": str(item.package)} for item in made]))
        return code
    rows = [
        (i.name, "yes" if i.runnable else "no", ", ".join(i.needs), "a judge model" if i.judge else "") for i in made
    ]
    if made:
        table("", ("task", "runs here", "needs", ""), rows)
    say_packages(made, out, bool(skip_faulty), {i.package.name: ", ".join(i.needs) for i in made})
    return code


def _original(
    copy: str, out: str | None, tasks: tuple[str, ...], given: tuple[Path | None, ...], *, listing: bool,
    overwrite: bool, as_json: bool, skip_faulty: bool,
) -> int:  # fmt: skip
    from worksample.formats.tac.original import counted, import_original, read_originals

    if listing or out is None:
        refused: dict[str, ImportFailed] = {}
        found = read_originals(Path(copy), refused)
        if as_json:
            say_json([
                {
                    "name": one.name, "services": one.services, "lacks": one.lacks,
                    "contents": one.missing(*given), "programs": one.unprepared,
                }
                for one in found
            ] + [{"name": name, "unreadable": fault.what} for name, fault in refused.items()])  # fmt: skip
            return 0
        rows = [
            (one.name, ", ".join(one.services), "no" if one.lacks else "yes", "; ".join(one.missing(*given)))
            for one in found
        ]
        table("", ("task", "needs", "runs here", "contents that are missing"), rows)
        numbers = [(name, str(count), str(run)) for name, (count, run) in counted(found).items()]
        table("", ("needs", "tasks", "run here"), numbers)
        _say_refused(refused)
        return 0
    from worksample.cli.imported import as_plain, outcome, say_packages

    documents, projects = given
    made, code = outcome(
        lambda: import_original(
            Path(copy), Path(out), tasks=tasks, overwrite=overwrite, documents=documents, more=projects,
            skip_faulty=skip_faulty,
        )
    )  # fmt: skip
    if as_json:
        say_json(as_plain(made, [str(root) for root in made]))
        return code
    lacks = {one.id: ", ".join(one.lacks) for one in read_originals(Path(copy), {})}
    say_packages(made, out, skip_faulty, {root.name: lacks.get(root.name, "") for root in made})
    return code


def _say_refused(faults: Mapping[str, ImportFailed]) -> None:
    for name, fault in faults.items():
        click.echo(f"{name} cannot be read: {fault.what}", err=True)


def _list(*, as_json: bool) -> None:
    from worksample.formats.tac.importing import available

    names = [task.name for task in available()]
    if as_json:
        say_json(names)
    else:
        click.echo("\n".join(names))

"""Commands `worksample task ...`: create, show, list and check task packages."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.exit_codes import FAILED
from worksample.cli.output import console, json_option, printable, say_json, table

if TYPE_CHECKING:
    from worksample.audit import Report
    from worksample.records import Deliverable, Instance, Limits
    from worksample.tasks import Package


@click.command("new")
@click.argument("folder", type=click.Path())
@click.option("--title", default=None, help="What the task is called; default: derived from the folder's name.")
@click.option(
    "--protocol", type=click.Choice(["program", "rubric", "holistic"]), default=None,
    help="How work is judged: by a program (default), by people with a rubric, or by people as a whole.",
)  # fmt: skip
@json_option
def new_command(folder: str, title: str | None, protocol: str | None, as_json: bool | None) -> None:
    """Create a task package to start from: small, complete, with two instances, cases and scripts.

    The name of FOLDER becomes the task's id. docs/tutorials/own-task.md walks you through it.
    """
    from worksample.records import Protocol
    from worksample.tasks import scaffold

    path = Path(folder)
    made = scaffold(path.parent, path.name, title=title or "", protocol=Protocol(protocol or "program"))
    if as_json:
        say_json({"task": str(made)})
        return
    click.echo(f"made {made}")
    click.echo(f"  next: worksample task check {made}")


@click.command("show")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--prompt", is_flag=True, default=None, help="Show the prompt that an agent gets for each instance.")
@click.option(
    "--agent", "agent_name", default=None, metavar="NAME", help="With --prompt: a harness or preset; default: worker."
)
@click.option("--instance", default=None, metavar="NAME", help="With --prompt: only this instance.")
@json_option
def show_command(
    folder: str, prompt: bool | None, agent_name: str | None, instance: str | None, as_json: bool | None
) -> None:
    """Show a task package: brief, environment, deliverables, criteria, instances and digests.

    With --prompt, show what an agent is told instead. The prompt depends on the task's folders, network, services,
    interfaces and deliverables.
    """
    from worksample.errors import UsageError
    from worksample.files import HashSink
    from worksample.tasks import ingest, read_package

    if (agent_name or instance) and not prompt:
        raise UsageError("--agent and --instance need --prompt", next="worksample task show FOLDER --prompt")
    package = read_package(Path(folder))
    taken = ingest(package, HashSink())
    if prompt:
        _print_prompts(taken.instances, agent_name or "worker", instance, as_json)
        return
    if as_json:
        say_json({"task": taken.task.plain(), "instances": [i.plain() for i in taken.instances]})
        return
    _print_summary(package, taken.instances[0])
    table(
        "instances",
        ("name", "title", "work", "grading"),
        [
            (i.name, i.title, i.work_digest[:12], ", ".join(f"{p} {i.grading_digest(p)[:12]}" for p in i.grading))
            for i in taken.instances
        ],
    )
    click.echo(printable(taken.instances[0].work.brief.rstrip()))


def _print_prompts(instances: Sequence[Instance], agent_name: str, only: str | None, as_json: bool | None) -> None:
    from worksample.agents import PRESETS, define, show_prompts
    from worksample.errors import UsageError

    chosen = [one for one in instances if only in (None, one.name)]
    if not chosen:
        names = ", ".join(one.name for one in instances)
        raise UsageError(f"the task has no instance {only!r}; it has {names}", next="--instance with one of these")
    preset = agent_name if agent_name in PRESETS else None
    agent = define(preset=preset, harness=None if preset else agent_name, model="provider/model")
    prompts = {one.name: show_prompts(agent, one) for one in chosen}
    if as_json:
        say_json({"agent": agent_name, "prompts": prompts})
        return
    for name, texts in prompts.items():
        for number, text in enumerate(texts, 1):
            step = f", step {number} of {len(texts)}" if len(texts) > 1 else ""
            click.secho(printable(f"----- {name}{step}"), bold=True)
            click.echo(printable(text))


def _print_summary(package: Package, instance: Instance) -> None:
    about, environment = package.about, package.instances[0].environment
    out = console()
    out.print(printable(f"{package.id} {package.version}: {package.title}"), style="bold")
    rows: list[tuple[str, object]] = [
        ("category", about.category),
        ("occupation", about.occupation),
        ("tier", about.tier),
        ("licence", about.licence),
        ("provenance", about.provenance),
        ("canary", package.canary),
    ]
    if about.value:
        v = about.value
        rows.append(("value", f"{v.low:g} to {v.high:g} {v.currency} ({v.source}, {v.date})"))
    if about.hours:
        rows.append(
            ("hours", f"{about.hours.low:g} to {about.hours.high:g} ({about.hours.source}, {about.hours.date})")
        )
    rows += [
        ("network", environment.network),
        ("image", environment.image.name if environment.image else ""),
        ("software", ", ".join(environment.software)),
        ("requires", ", ".join(environment.requires)),
        *_rows_by_instance("limits", {i.name: _limits_text(i.environment.limits) for i in package.instances}),
        *_rows_by_instance("output", {i.name: i.environment.paths.output for i in package.instances}),
        ("cases", ", ".join(case.name for case in package.cases)),
        ("probes", ", ".join(package.probes)),
    ]
    table("", ("", ""), [row for row in rows if row[1]])
    table("deliverables", ("name", "format", "required", "about", "of"), _deliverable_rows(package))
    leaves = package.criteria.leaves
    if leaves:
        worth = [str(c.importance) if c.importance else f"{c.worth:g}" for c in leaves]
        rows_of = zip(leaves, worth, strict=True)
        table(
            "criteria",
            ("id", "worth", "by", "kind", "gate", "text"),
            [(c.id, w, c.by, c.kind or "", "gate" if c.gate else "", c.text) for c, w in rows_of],
        )


def _limits_text(limits: Limits) -> str:
    return ", ".join(f"{k} {v:g}" for k, v in limits.plain().items() if v is not None)


def _rows_by_instance(what: str, by_instance: dict[str, str]) -> list[tuple[str, object]]:
    """Return one row for the printed table if a text is the same for all instances. Otherwise return one row for each
    instance.
    """
    if len(set(by_instance.values())) == 1:
        return [(what, next(iter(by_instance.values())))]
    return [(f"{what} of {name}", said) for name, said in by_instance.items()]


def _deliverable_rows(package: Package) -> list[tuple[str, str, str, str, str]]:
    """Return one row of the printed table for each deliverable, with the instances that require the deliverable."""
    asked: dict[Deliverable, list[str]] = {}
    for spec in package.instances:
        for one in spec.deliverables:
            asked.setdefault(one, []).append(spec.name)
    whole = len(package.instances)
    return [
        (d.name, d.format, "yes" if d.required else "no", d.about, "all" if len(of) == whole else ", ".join(of))
        for d, of in asked.items()
    ]


@click.command("list")
@click.argument("where", required=False, default=None)
@json_option
def list_command(where: str | None, as_json: bool | None) -> None:
    """List the tasks in a folder or a suite.

    WHERE is a folder with packages in it, a suite.toml, or a shipped suite's name; by default the current folder.
    """
    from worksample.errors import ManifestError
    from worksample.tasks import find_suite, read_package, read_suite, shipped_suites

    packages: list[Package] = []
    broken: list[tuple[Path, ManifestError]] = []
    text = where or "."
    if text in shipped_suites() or (Path(text) / "suite.toml").is_file() or text.endswith(".toml"):
        packages += read_suite(find_suite(text)).packages
    else:
        for manifest in sorted(Path(text).glob("**/task.toml")):
            try:
                packages.append(read_package(manifest.parent))
            except ManifestError as error:
                broken.append((manifest.parent, error))
    if as_json:
        say_json(
            {
                "tasks": [
                    {"id": p.id, "folder": str(p.root), "instances": [i.name for i in p.instances]} for p in packages
                ],
                "broken": [{"folder": str(folder), "what": fault.what} for folder, fault in broken],
            }
        )
        return
    columns = ("task", "title", "instances", "category", "tier")
    rows = [(p.id, p.title, ", ".join(i.name for i in p.instances), p.about.category, p.about.tier) for p in packages]
    if rows:
        table("", columns, rows)
    for folder, fault in broken:
        click.echo(printable(f"broken: {folder}: {fault.what}"))
    if not rows and not broken:
        click.echo("no task here\n  next: worksample task new my-task, or worksample task list starter")


@click.command("load")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--entry", default=None, metavar="FILE", help="The file that has the function load; default: task.py.")
@click.option("--sandbox", default=None, metavar="KIND", help="The kind of sandbox; default: bubblewrap.")
@json_option
def load_command(folder: str, entry: str | None, sandbox: str | None, as_json: bool | None) -> None:
    """Call load() of a task package, and keep the instances that it returns in the folder loaded/.

    load() runs twice in a sandbox. If the instances differ, nothing is written.
    """
    import asyncio

    from worksample.sandboxes.task_program import load_instances
    from worksample.tasks import read_package
    from worksample.tasks.loaded_instances import write_loaded

    root = Path(folder)
    found = asyncio.run(load_instances(root.resolve(), entry or "task.py", sandbox=sandbox or "bubblewrap"))
    write_loaded(root, found)
    package = read_package(root)
    if as_json:
        say_json({"task": package.id, "loaded": [one["name"] for one in found]})
        return
    click.echo(f"loaded {_count(len(found), 'instance')} of {package.id}")
    click.echo(printable(f"  next: worksample task check {shlex.quote(folder)}"))


@click.command("check")
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--parallel", type=int, default=None, help="Gradings at once; default: 2.")
@click.option("--sandbox", default=None, metavar="KIND", help="The kind of sandbox of graders; default: bubblewrap.")
@json_option
def check_command(folders: tuple[str, ...], parallel: int | None, sandbox: str | None, as_json: bool | None) -> int:
    """Check task packages before they are used (docs/how-to/check-a-task.md). Exit code 1 if an error is found.

    Grades control submissions twice: the reference must get full marks and an empty submission 0, copied inputs and
    empty files must not pass, and each of cases/ must get its expected score. Also looks for ways in which the agent
    could reach the reference, and for names in the brief that the grader does not use, or the other way round.
    """
    from worksample.audit import AuditConfig, check
    from worksample.tasks import read_package

    reports = []
    for folder in folders:
        package = read_package(Path(folder))
        config = AuditConfig(
            parallel=parallel or 2, sandbox=sandbox or "bubblewrap", on_step=_ignore_step if as_json else _print_step
        )
        report = check(package, config)
        reports.append(report)
        if not as_json:
            _print_report(report)
            if report.passed:
                _print_next_run(Path(folder))
            elif not any(finding.do for finding in report.errors):
                click.echo(
                    "  next: correct the grader, reference or case, and check again (docs/how-to/check-a-task.md)"
                )
    if as_json:
        say_json([report.plain() for report in reports])
    return 0 if all(report.passed for report in reports) else FAILED


def _ignore_step(text: str) -> None:
    pass


def _print_step(text: str) -> None:
    click.echo(printable(f"  grading {text}"), err=True)


def _print_report(report: Report) -> None:
    columns = ("instance", "control", "expected", "score", "")
    rows = [
        (
            g.instance,
            g.control,
            g.expected,
            "ungraded" if g.score is None else f"{g.score:.3f}",
            "" if g.right else "WRONG",
        )
        for g in report.graded
    ]
    if rows:
        table(report.task, columns, rows, right=("score",))
    for finding in report.findings:
        where = f"{finding.where}: " if finding.where else ""
        click.echo(printable(f"{finding.severity} ({finding.check}) {where}{finding.what}"))
        if finding.do:
            click.echo(printable(f"  next: {finding.do}"))
    for note in report.notes:
        click.echo(printable(f"note: {note}"))
    errors = len(report.errors)
    warnings = len(report.findings) - errors
    told = "passed" if report.passed else "NOT PASSED"
    click.echo(f"{report.task}: {told}, {_count(errors, 'error')}, {_count(warnings, 'warning')}")


def _print_next_run(folder: Path) -> None:
    """Print the command that runs a task package, after the package has passed its check."""
    who = "--agent worker --model PROVIDER/MODEL"
    if (folder / "scripts" / "good").is_dir():
        who = f"--agent scripted --script {shlex.quote(str(folder / 'scripts' / 'good'))}"
    click.echo(printable(f"  next: worksample run --task {shlex.quote(str(folder))} {who}"))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

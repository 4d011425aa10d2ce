"""`worksample export upbench`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, open_store, say_json, store_option, table


@click.command("upbench")
@click.argument("out", type=click.Path(file_okay=False))
@click.option("--format", "form", metavar="NAME", default=None, help="csv (default), json, jsonl or parquet.")
@click.option(
    "--experiment", "experiments", multiple=True, default=None, help="Name or id; by default all. Repeatable."
)
@click.option(
    "--private",
    is_flag=True,
    default=None,
    help="Include jobs of private suites, with everything that was said about them.",
)
@click.option(
    "--files", is_flag=True, default=None,
    help="Also write the submitted files and the jobs' attachments, where an import looks for them.",
)  # fmt: skip
@store_option
@json_option
def command(
    out: str, form: str | None, experiments: tuple[str, ...], private: bool | None, files: bool | None,
    store: str | None, as_json: bool | None,
) -> None:  # fmt: skip
    """Write UpBench's six tables into the folder OUT: projects, qualifications, submissions, evaluations, evaluators,
    agents.

    Jobs of private suites are left out. Data from `worksample import upbench` are written back unchanged
    (docs/upbench.md).
    """
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.formats.upbench import ExportUpbench, export_upbench

    config = ExportUpbench(format=form or "csv", private=bool(private), files=bool(files))
    with open_store(store) as opened:
        chosen = [find_experiment(opened, name) for name in experiments] if experiments else None
        made = export_upbench(opened, Path(out), chosen, config)
    if as_json:
        say_json({"rows": made.rows, "left_out": made.left_out, "files": [str(path) for path in made.files],
                  "beside": made.beside})  # fmt: skip
        return
    table("", ("table", "rows"), list(made.rows.items()), right=("rows",))
    for what, count in made.left_out.items():
        click.echo(f"  left out: {count} {what}")
    if made.left_out.get("jobs of private suites"):
        click.echo("  --private includes private suites")
    click.echo(f"tables: {out}" + (f", with {made.beside} files" if files else ""))

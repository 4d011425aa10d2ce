"""Generate what is not committed: Python API, command line, changelog, the list of decisions, and tables of settings,
frames and formats.
"""

from __future__ import annotations

import ast
import csv
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from worksample.cli.exit_codes import FAILED, INCOMPLETE, INTERRUPTED, USAGE
from worksample.cli.lazy_group import LazyGroup, root
from worksample.store.schema import TABLES
from worksample.viewing import formats
from worksample.viewing.converter_requirements import NEEDS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
API = {
    "worksample": (
        "reference/api.md",
        "What scripts and notebooks use; [the how-to](../how-to/use-from-python.md) shows it at work.",
    ),
    "worksample.kit": (
        "reference/api-kit.md",
        "What a grader is written with; see [the kit](kit.md).",
    ),
    "worksample.box": (
        "reference/api-box.md",
        "The interface of a sandbox, for kinds of your own; see [boxes](boxes.md).",
    ),
    "worksample.sandboxes": ("reference/api-sandboxes.md", "Sandboxes opened by the name of their kind."),
}
"""By public module: its page and what the page begins with."""
SETTINGS = {
    "experiment": ("experiments/config.py", "ExperimentConfig"),
    "agents": ("experiments/config.py", "AgentConfig"),
    "arms": ("experiments/config.py", "ArmConfig"),
    "chain": ("experiments/config.py", "ChainConfig"),
    "limits": ("experiments/config.py", "LimitsConfig"),
    "people": ("experiments/config.py", "PeopleConfig"),
    "judges": ("models/judge_config.py", "JudgeConfig"),
    "calibration": ("results/calibration/config.py", "CalibrationConfig"),
    "prices": ("models/price.py", "Price"),
    "services": ("models/service_config.py", "ServiceConfig"),
    "app": ("app/config.py", "AppConfig"),
}
"""By mark in docs/reference/settings.md: the module and the class whose fields are the keys."""
HIDDEN = frozenset({"body", "object", "schema_version"})
"""Columns of the index by which nobody finds records."""
COMMAND_LINE = f"""# Command line

Every command that prints takes `--json`: one JSON document on standard output and nothing else; progress and errors go
to standard error. With `--json` an error is the document `{{"error": {{"kind", "what", "where", "next"}}}}`.

| exit code | meaning |
|---|---|
| 0 | done |
| {FAILED} | it failed; the message says what, where, and what to type next |
| {USAGE} | the command itself is wrong |
| {INCOMPLETE} | it ran, and something planned is not finished, not graded or not sound |
| {INTERRUPTED} | interrupted with Ctrl-C; what was done is kept |
"""
KINDS = {
    r" \| None": "",
    r" \| ": " or ",
    r"Literal\[[^\]]*\]": "text",
    r"dict\[str, Any\]": "table",
    r"dict\[str, \w+(Config|Price)\]|dict\[str, Price\]": "table of tables",
    r"\b(Agent|Arm)Config\b": "tables",
    r"\b(Limits|People|Calibration|Chain)Config\b": "table",
    r"tuple\[(\w+), \.\.\.\]": r"list of \1",
    r"dict\[str, (\w+)\]": r"table of \1",
    r"\b(Protocol|Sandbox|Feedback|ShownRubric|JudgedBy|Stratum|str)\b": "text",
    r"\bName\b": "name",
    r"\bSeconds\b": "seconds",
    r"\bint\b": "integer",
    r"\bfloat\b": "number",
}
"""From annotations to words, applied in this order."""


def pages() -> dict[str, str]:
    """Return the generated pages by their paths in docs/."""
    found = {page: api(module, says) for module, (page, says) in API.items()}
    found["reference/cli.md"] = "\n".join([COMMAND_LINE, *commands(root(), "worksample")])
    found["reference/store.md"] = store((DOCS / "reference/store.md").read_text(encoding="utf-8"))
    found["reference/viewing.md"] = viewing((DOCS / "reference/viewing.md").read_text(encoding="utf-8"))
    found["reference/settings.md"] = settings((DOCS / "reference/settings.md").read_text(encoding="utf-8"))
    found["decisions/index.md"] = decisions((DOCS / "decisions/index.md").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found["changelog.md"] = changes.replace("](docs/", "](")
    return found


def api(module: str, says: str) -> str:
    """Return a page with a directive of mkdocstrings for each public name of a module."""
    parts = [f"# API: `{module}`\n", f"{says} A name that is not listed is not public: it may change without notice.\n"]
    found = importlib.import_module(module)
    for name in sorted(found.__all__, key=str.lower):
        if name.startswith("_"):
            continue
        value = getattr(found, name)
        path = f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else f"{module}.{name}"
        parts.append(f"::: {path}\n    options:\n      heading: {name}\n      toc_label: {name}\n")
    return "\n".join(parts)


def decisions(page: str) -> str:
    """Return docs/decisions/index.md with a line for each record, in place of lines that were written by hand."""
    lines = []
    for file in sorted((DOCS / "decisions").glob("0*.md")):
        number, _, title = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(". ")
        lines.append(f"- {number} [{title}]({file.name})")
    return re.sub(r"^- \d{4} \[.*\n", "", page, flags=re.M).replace("<!-- decisions -->", "\n".join(lines))


def commands(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[str]:
    """Yield a section with the help of a command, then those of its subcommands."""
    context = click.Context(
        command, info_name=path.rsplit(maxsplit=1)[-1], parent=parent, terminal_width=100, max_content_width=100
    )
    context.help_option_names = ["-h", "--help"]
    yield f"## {path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, LazyGroup):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, f"{path} {name}", context)


def settings(page: str) -> str:
    """Return docs/reference/settings.md with its tables.

    Raises ValueError if a mark is missing or a field has no docstring.
    """
    for mark, (module, name) in SETTINGS.items():
        rows = "\n".join(fields(ROOT / "src/worksample" / module, name))
        page = with_table(page, mark, f"| key | type | default | |\n|---|---|---|---|\n{rows}")
    return page


def store(page: str) -> str:
    """Return docs/reference/store.md with the index's columns and those of the frames.

    Raises ValueError if a mark is missing.
    """
    tables: dict[str, list[str]] = {}
    with (DOCS / "data/frames.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            line = f"| `{row['column']}` | {row['type']} | {row['meaning']} |"
            tables.setdefault(row["frame"], ["| column | type | |", "|---|---|---|"]).append(line)
    tables["columns"] = ["| record | columns |", "|---|---|"]
    for kind, table in TABLES.items():
        names = ", ".join(f"`{column.name}`" for column in table.c if column.name not in HIDDEN)
        tables["columns"].append(f"| {kind} | {names} |")
    for mark, rows in tables.items():
        page = with_table(page, mark, "\n".join(rows))
    return page


def viewing(page: str) -> str:
    """Return docs/reference/viewing.md with the table of formats. Raises ValueError if its mark is missing."""
    rows = ["| format | names | kind | badge | needs |", "|---|---|---|---|---|"]
    for form in formats():
        needs = ", ".join(NEEDS[name].title for name in form.needs)
        badge = form.badge.partition(" (")[0]
        rows.append(f"| {form.title} | {' '.join(form.extensions)} | `{form.kind}` | {badge} | {needs} |")
    return with_table(page, "formats", "\n".join(rows))


def with_table(page: str, mark: str, table: str) -> str:
    """Return the page with a table in place of a mark. Raises ValueError if the mark is not there exactly once."""
    page, count = re.subn(rf"<!-- {mark} -->", lambda _: table, page)
    if count != 1:
        raise ValueError(f"the page has the mark <!-- {mark} --> {count} times, not once")
    return page


def fields(module: Path, name: str) -> Iterator[str]:
    """Yield a row for each field of a class: key, type, default and docstring."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            raise ValueError(f"{name}.{node.target.id} has no docstring")
        says = " ".join(str(after.value.value).split())
        kind = ast.unparse(node.annotation)
        for pattern, word in KINDS.items():
            kind = re.sub(pattern, word, kind)
        default = "" if "by default" in says else default_of(node.value)
        yield f"| `{node.target.id}` | {kind} | {default} | {says} |"


def default_of(value: ast.expr | None) -> str:
    """Return a field's default as the table shows it."""
    if value is None:
        return "required"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Field":
        return default_of({k.arg: k.value for k in value.keywords}.get("default"))
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.LShift):
        return f"`{ast.literal_eval(value.left) << ast.literal_eval(value.right)}`"
    text = ast.unparse(value)
    if text in ("None", "()", "{}") or text.endswith("Config()"):
        return ""
    if isinstance(value, ast.Attribute):
        return f"`{value.attr.lower()}`"
    return "one, `plain`" if "ArmConfig" in text else f"`{text.strip(chr(39))}`"


if __name__ == "__main__":
    for name, text in pages().items():
        sys.stdout.write(f"{name}: {len(text.splitlines())} lines\n")

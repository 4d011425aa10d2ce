"""Check what the docs and docstrings mention: names, paths, commands and links.

    python tools/check_mentions.py

Read are README.md, CONTRIBUTING.md, CHANGELOG.md, the hand-written pages of docs/, and every docstring under
src/worksample.

- A link leads to a file, and to a heading of it if it has an anchor.
- A path in backticks that ends in `.py`, or begins with a folder of the repository, exists; so does `docs/PAGE.md`
  anywhere in the source, error messages included.
- A dotted name in backticks that begins with `worksample` or one of its packages, and a class name, is defined.
- A command `worksample ...`, `./dev ...` or `python -m ...` has its verb, its options and its module, by the real
  parser.

Prints a line for each fault and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click

from worksample.cli.lazy_group import LazyGroup, root

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "worksample"
GENERATED = (
    "reference/api.md",
    "reference/api-kit.md",
    "reference/api-box.md",
    "reference/api-sandboxes.md",
    "reference/cli.md",
    "changelog.md",
)
"""Pages of docs/ that docs/generate.py writes."""
FOLDERS = ("src", "tests", "docs", "tools", "benchmarks", "examples", "web", "locks")
"""Folders of the repository; a path in backticks that begins with one must exist."""
NOT_OURS = frozenset(
    [
        "Contains",
        "Dockerfile",
        "Group2",
        "Includes",
        "Intermediate",
        "NaN",
        "PidsLimit",
        "Sync",
        "Thumbs.db",
        "Upgrade",
        "app/static/assets",
        "tasks/*",
        "tests/test.sh",
    ]
)
"""Names and paths of other projects, of readers' own files, and words in backticks that only look like names."""
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
CLASS = re.compile(r"[A-Z][a-z0-9]+[A-Za-z0-9]*")


@dataclass(frozen=True)
class Text:
    """What is checked: a page, or a docstring. `line`: where it begins."""

    file: Path
    line: int
    text: str


def pages() -> Iterator[Text]:
    """Yield the hand-written pages."""
    names = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
    for file in (*(ROOT / name for name in names), *sorted((ROOT / "docs").rglob("*.md"))):
        yield Text(file, 1, file.read_text(encoding="utf-8"))


def docstrings() -> Iterator[Text]:
    """Yield the docstrings of modules, classes, functions and attributes."""
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield Text(file, node.lineno, node.value.value)


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the modules of the package by file, without the suites' and templates' tasks."""
    files = [f for f in sorted(SOURCE.rglob("*.py")) if not {"suites", "template"} & set(f.relative_to(SOURCE).parts)]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def defined() -> frozenset[str]:
    """Return every name that the package defines, imports or uses, classes and functions of its tests, and Python's."""
    found = set(dir(builtins))
    for folder in ("tests", "tools", "benchmarks"):
        for file in (ROOT / folder).rglob("*.py"):
            found.update(
                re.findall(r"^ *(?:class|def|async def) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
            )
    for tree in trees().values():
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    found.add(node.name)
                case ast.Name():
                    found.add(node.id)
                case ast.Attribute():
                    found.add(node.attr)
                case ast.alias():
                    found.update((node.asname or node.name).split("."))
                case _:
                    pass
    return frozenset(found)


@cache
def entry_points() -> frozenset[str]:
    """Return the groups of entry points, whose names look like modules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return frozenset(project["entry-points"])


@cache
def tracked() -> tuple[str, ...]:
    """Return the files of the repository, each with a slash before it."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    return tuple(f"/{name}" for name in done.stdout.splitlines())


@cache
def anchors(file: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as Python-Markdown makes them."""
    found: list[str] = []
    for title in re.findall(r"^#+ (.+)$", BLOCK.sub("", file.read_text(encoding="utf-8")), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        found.append(f"{slug}_{found.count(slug)}" if slug in found else slug)
    return frozenset(found)


def wrong_link(page: Path, target: str) -> Iterator[str]:
    """Yield that a link of a page leads nowhere."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if re.match(r"[a-z]+:", target) or file in {ROOT / "docs" / name for name in GENERATED}:
        return
    if not file.exists():
        yield f"link to {target}: there is no such file"
    elif anchor and file.suffix == ".md" and anchor not in anchors(file):
        yield f"link to {target}: there is no such heading"


def wrong_paths(code: str) -> Iterator[str]:
    """Yield a path in backticks that does not exist."""
    path = code.partition("::")[0].partition("#")[0]
    if path in NOT_OURS or not re.fullmatch(r"\.?[\w.*-]+(/[\w.*-]+)+/?", path):
        return
    if path.split("/")[0] in FOLDERS:
        if not any(ROOT.glob(path.rstrip("/"))):
            yield f"`{code}`: there is no such path"
    elif path.endswith(".py") and not any(name.endswith(f"/{path}") for name in tracked()):
        yield f"`{code}`: no file ends so"
    elif (SOURCE / path.split("/")[0] / "__init__.py").exists() and "." not in path and not is_module(path.rstrip("/")):
        yield f"`{code}`: there is no such module"


def is_module(path: str) -> bool:
    """Tell whether a path below src/worksample, without a suffix, is a module or a folder."""
    return any(name.startswith((f"/src/worksample/{path}.py", f"/src/worksample/{path}/")) for name in tracked())


def wrong_names(code: str) -> Iterator[str]:
    """Yield a dotted name, or a class name, that is not defined."""
    name = re.sub(r"\(.*\)$", "", code).removeprefix("ws.")
    if name in NOT_OURS | entry_points() or re.fullmatch(r"\w+(\.\w+)*", name) is None:
        return
    first, _, rest = name.partition(".")
    unknown = [part for part in name.split(".") if part not in defined()]
    if CLASS.fullmatch(first):
        if unknown:
            yield f"`{code}`: nothing is called {unknown[0]}"
    elif first == "worksample" and rest and not resolves(name):
        yield f"`{code}`: there is no such module or name"
    elif unknown and rest and (SOURCE / first).is_dir() and not resolves(f"worksample.{name}"):
        yield f"`{code}`: there is no such module or name in worksample.{first}"


@cache
def resolves(name: str) -> bool:
    """Tell whether a dotted name leads to a module, or to an attribute of one."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:size]))
        except ImportError:
            continue
        for part in parts[size:]:
            fields = getattr(found, "__annotations__", {}) | getattr(found, "model_fields", {})
            if not hasattr(found, part):
                return part in fields
            found = getattr(found, part)
        return True
    return False


def wrong_commands(line: str, *, whole: bool) -> Iterator[str]:
    """Yield what a command line says that its parser does not know. `whole`: its arguments are all there."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return
    if words[:1] == ["./dev"] and len(words) > 1:
        if not re.search(rf"^  {re.escape(words[1])}\)", (ROOT / "dev").read_text(encoding="utf-8"), re.MULTILINE):
            yield f"`{line}`: dev has no command {words[1]}"
    elif words[:2] == ["python", "-m"] and words[2:3] and words[2].split(".")[0] in ("benchmarks", "worksample"):
        module = words[2].replace(".", "/")
        if not any(
            (ROOT / base / f"{module}{end}").exists() for base in ("", "src") for end in (".py", "/__main__.py")
        ):
            yield f"`{line}`: there is no module {words[2]}"
    elif words[:1] == ["python"] and words[1:2] and words[1].startswith(FOLDERS) and not (ROOT / words[1]).exists():
        yield f"`{line}`: there is no file {words[1]}"
    elif words[:1] == ["worksample"] and words[1:] and "|" not in words:
        yield from wrong_options(line, [word for word in words[1:] if word not in ("...", "…")], whole=whole)


def wrong_options(line: str, words: list[str], *, whole: bool) -> Iterator[str]:
    """Yield an unknown verb or option of `worksample`, or a missing or superfluous argument of a whole command."""
    command: click.Command = root()
    context = click.Context(command, info_name="worksample")
    while isinstance(command, LazyGroup) and words and not words[0].startswith("-"):
        word = words.pop(0)
        inner = command.get_command(context, word)
        if inner is None:
            if word.islower():
                yield f"`{line}`: there is no verb {word}"
            return
        command, context = inner, click.Context(inner, info_name=word, parent=context)
    if {"--help", "-h", "--version"} & set(words):
        return
    try:
        values, more, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        if whole or isinstance(error, click.NoSuchOption):
            yield f"`{line}`: {error.format_message()}"
        return
    if whole and not isinstance(command, LazyGroup):
        required = [str(p.name) for p in command.params if isinstance(p, click.Argument) and p.required]
        # A missing argument is None, empty or click's own mark, according to click's version.
        lacking = [
            name for name in required if not isinstance(values.get(name), str | tuple | list) or not values[name]
        ]
        if more:
            yield f"`{line}`: {more[0]!r} is one argument too many"
        elif lacking:
            yield f"`{line}`: it needs {lacking[0]}"


def faults(text: Text) -> Iterator[str]:
    """Yield what is wrong in a page or a docstring, each fault with the line of its mention."""
    is_page = text.file.suffix == ".md"
    found: list[tuple[int, str]] = []
    for block in CONSOLE.finditer(text.text) if is_page else ():
        for line in block[1].replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                for part in re.split(r" && ", line[2:]):
                    found += [(block.start(), fault) for fault in wrong_commands(part, whole=True)]
    # Blocks are blanked, so that positions stay what they are.
    prose = BLOCK.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text.text)
    for code in CODE.finditer(prose):
        wrong = (*wrong_paths(code[1]), *wrong_names(code[1]), *wrong_commands(code[1], whole=False))
        found += [(code.start(), fault) for fault in wrong]
    if is_page:
        found += [(link.start(), fault) for link in LINK.finditer(prose) for fault in wrong_link(text.file, link[1])]
    for at, fault in dict.fromkeys(found):
        yield f"{text.file.relative_to(ROOT)}:{text.line + text.text.count(chr(10), 0, at)}: {fault}"


def wrong_pages() -> Iterator[str]:
    """Yield mentions of pages of docs/ in the source, error messages included, that lead nowhere."""
    for file in trees():
        for page, anchor in re.findall(r"\b(docs/[\w/-]+\.md)(#[\w-]+)?", file.read_text(encoding="utf-8")):
            path = ROOT / page
            if path.name in GENERATED:
                continue
            if not path.exists() or (anchor and anchor[1:] not in anchors(path)):
                yield f"{file.relative_to(ROOT)}: there is no {page}{anchor}"


def misnumbered_decisions() -> Iterator[str]:
    """Yield decision records that are named by another number than their title."""
    for file in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        number = int(file.name[:4])
        title = file.read_text(encoding="utf-8").partition("\n")[0]
        if not title.startswith(f"# {number:04}. ") or not file.name.startswith(f"{number:04}-"):
            yield f"{file.relative_to(ROOT)}: its number should be {number:04}"


def check() -> list[str]:
    """Return all faults."""
    found = [fault for text in (*pages(), *docstrings()) for fault in faults(text)]
    return [*found, *wrong_pages(), *misnumbered_decisions()]


if __name__ == "__main__":
    found = check()
    print("\n".join(found) or "all mentions are right")
    sys.exit(bool(found))

"""Text is UTF-8 whatever the locale: every call that reads or writes text names its encoding."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
FOLDERS = ("src", "benchmarks", "tools")
BOXED = "src/worksample/suites"
"""Runs in boxes, whose locale is C.UTF-8."""
ARCHIVES = ("av", "tarfile", "zipfile", "wave", "Image")
PROCESSES = ("run", "Popen", "check_output", "check_call")
TEMPORARY = ("NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile")


def nameless(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that read or write text in the locale's encoding. What ruff's PLW1514 sees by types is left to it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not {"encoding", None} & {k.arg for k in node.keywords} and _is_text(node):
            yield node


def _is_text(call: ast.Call) -> bool:
    method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("read_text", "write_text"):
        return method and len(call.args) == (name == "write_text")
    if name in PROCESSES:
        return any(k.arg in ("text", "universal_newlines") for k in call.keywords)
    if name in TEMPORARY:
        return _mode(call, 0, "w+b") is not None
    if name == "fdopen" or (name == "open" and not method):
        return _mode(call, 1, "r") is not None
    if isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") in ARCHIVES:
        return False
    modes = bool(call.args) or any(k.arg == "mode" for k in call.keywords)
    return name == "open" and method and modes and _mode(call, 0, "r") is not None


def _mode(call: ast.Call, place: int, usual: str) -> str | None:
    """The mode of text that a file is opened in; None for bytes, and for what is no mode."""
    given = next(
        (k.value for k in call.keywords if k.arg == "mode"), call.args[place] if place < len(call.args) else None
    )
    mode = usual if given is None else given.value if isinstance(given, ast.Constant) else None
    return mode if isinstance(mode, str) and mode and set(mode) <= set("rwxat+") else None


def test_every_text_call_names_its_encoding() -> None:
    found = [
        f"{path.relative_to(TOP)}:{call.lineno}"
        for folder in FOLDERS
        for path in sorted((TOP / folder).rglob("*.py"))
        if not path.is_relative_to(TOP / BOXED)
        for call in nameless(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, 'name encoding="utf-8" in these calls'


@pytest.mark.parametrize(
    "code",
    [
        "p.read_text()", "p.write_text(t)", "p.write_text(t, newline='')", "open(p)", "open(p, 'a')", "p.open('w')",
        "os.fdopen(f, 'w')", "tempfile.NamedTemporaryFile('w')", "subprocess.run(a, text=True)", "p.open(mode='r')",
    ],
)  # fmt: skip
def test_call_without_an_encoding_is_detected(code: str) -> None:
    assert [*nameless(ast.parse(code))]


@pytest.mark.parametrize("code", ["p.read_text('utf-8')", "open(p, 'rb')", "p.open('wb')", "tempfile.TemporaryFile()"])
def test_bytes_and_named_encodings_are_allowed(code: str) -> None:
    assert not [*nameless(ast.parse(code))]


@pytest.fixture(scope="module")
def latin(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a German machine of the year 2000."""
    if shutil.which("localedef") is None:
        pytest.skip("no localedef")
    place = tmp_path_factory.mktemp("locales")
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(place / "de_DE.ISO-8859-1")],
        check=False,
        capture_output=True,
    )
    if not (place / "de_DE.ISO-8859-1").exists():
        pytest.skip(f"localedef has no sources: {made.stderr!r}")
    cleared = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return cleared | {"LOCPATH": str(place), "LC_ALL": "de_DE.ISO-8859-1"}


def test_command_reads_and_writes_utf8_in_a_latin_locale(latin: dict[str, str], tmp_path: Path) -> None:
    """Letters that Latin-1 lacks, in text and in names of files."""
    (tmp_path / "Łódź – 東京.pdf").write_bytes(b"%PDF-1.4\n")
    (tmp_path / "jobs.csv").write_text(
        "id,description,amount,attachments\nŁ-1,Draw “Łódź” in 東京,900,Łódź – 東京.pdf\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "worksample", "import", "jobs", "jobs.csv", "Łout", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=latin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    [package] = [p for p in (tmp_path / "Łout").iterdir() if p.is_dir()]
    assert "Draw “Łódź” in 東京" in (package / "brief.md").read_text(encoding="utf-8")
    assert (package / "inputs" / "Łódź – 東京.pdf").is_file()


def test_unencodable_output_does_not_end_a_command(latin: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("id,description,東京\n1,Draw,1\n", encoding="utf-8")
    command = [sys.executable, "-m", "worksample", "import", "jobs", "jobs.csv", "out"]
    done = subprocess.run(
        command, cwd=tmp_path, env=latin | {"PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False
    )
    assert done.returncode == 0 and b"\\u6771\\u4eac" in done.stdout, done.stderr

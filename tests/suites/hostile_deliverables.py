"""Hostile mutants of a starter task's reference deliverables, each graded in a process of its own with limits.

    PYTHONPATH=tests python tests/suites/hostile_deliverables.py TASK [SHARE [SEED]]

Grades that SHARE of the mutants (default: all of them) and prints a JSON line for each that gets no grade, uses more
processor time than the grader may take time, or more memory than it may use. The last line says how many there were.
Limits are of processor time, so that a busy machine changes nothing.
"""

from __future__ import annotations

import io
import json
import math
import os
import random
import re
import resource
import shutil
import struct
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from suites.plain_grading import Package, grade

SECONDS = 40
"""Of processor time for one mutant: two thirds of what the tasks give their graders, on a machine that may be slow."""
MEMORY = 1 << 30
"""As the tasks have it. Address space is counted, which is more than what is used: some is added for libraries."""
LIBRARIES = 2 << 30
TEXTS = (".csv", ".json", ".md", ".svg", ".html", ".css", ".sql", ".py", ".txt")
NUMBERS = (
    "99999999999999999999999",
    "1e308",
    "-1e308",
    "1e309",
    "nan",
    "inf",
    "-0",
    "9" * 400,
    "1e-320",
    "0",
    "\u0663",
)
BOMBS = (
    "{" * 30_000,
    "<" * 100_000,
    "<a" * 50_000,
    "a" * 1_000_000,
    " " * 100_000,
    "a b " * 100_000,
    "{a, plural, other {" * 5_000,
    "\\u202e\\ud800",
    "-" * 200_000,
    "|" * 200_000,
    "9" * 300_000,
    "(" * 50_000 + ")" * 50_000,
    "'" * 99_999,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_STRING = re.compile(r'"[^"\\\n]{2,}"|(?<=>)[^<>\n]{3,}(?=<)|(?<=,)[^,\n]{3,}(?=,)|[A-Za-z ]{8,}')

Mutant = tuple[str, str, Callable[[Path], None]]


def mutants(output: Path, chance: random.Random) -> Iterator[Mutant]:
    """(file, what is done to it, a function that does it to the file's path)."""
    for path in sorted(p for p in output.rglob("*") if p.is_file()):
        name, data = path.relative_to(output).as_posix(), path.read_bytes()
        for what, do in PLACES.items():
            yield name, what, do
        for what, made in _bytes(data, path.suffix, chance):
            yield name, what, lambda target, made=made: target.write_bytes(made)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside.txt").write_text("x")


def _link(target: str) -> Callable[[Path], None]:
    def do(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return do


def _sparse(path: Path) -> None:
    os.truncate(path, 8 << 30)


PLACES: dict[str, Callable[[Path], None]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": _folder,
    "a link to /etc/passwd": _link("/etc/passwd"),
    "a link to /dev/zero": _link("/dev/zero"),
    "a link to itself": _link("self"),
    "8 GiB of nothing": _sparse,
}


def _bytes(data: bytes, suffix: str, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    yield "NUL bytes", b"\0" * 1_000
    yield "noise", chance.randbytes(20_000)
    yield "cut", data[: len(data) // 2]
    yield "UTF-16", b"\xff\xfe" + data[: len(data) // 2 * 2 + 1]
    yield "Latin-1", b"\xe9\xff" + data + b"\x80\xfe"
    yield "16 MiB", (data * (1 + (16 << 20) // max(1, len(data))))[: 16 << 20]
    for _ in range(4):
        spoilt = bytearray(data)
        for _ in range(8):
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
        yield "flipped bytes", bytes(spoilt)
    if suffix in TEXTS:
        for what, text in _texts(data.decode("utf-8", "replace"), suffix, chance):
            yield what, text.encode("utf-8", "surrogatepass")
    elif suffix == ".xlsx":
        yield from _workbooks(data, chance)
    elif suffix in (".stl", ".wav"):
        yield from _floats(data, chance)


def _texts(text: str, suffix: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    numbers, strings = list(_NUMBER.finditer(text)), list(_STRING.finditer(text))
    for value in NUMBERS:
        for place in chance.sample(numbers, min(3, len(numbers))):
            yield f"a number is {value[:30]}", text[: place.start()] + value + text[place.end() :]
        yield f"all numbers are {value[:30]}", _NUMBER.sub(value, text)
    for bomb in BOMBS:
        for place in chance.sample(strings, min(2, len(strings))):
            inside = f'"{bomb}"' if place.group().startswith('"') else bomb
            yield f"a text is {bomb[:20]!r} x {len(bomb)}", text[: place.start()] + inside + text[place.end() :]
    lines = text.splitlines(keepends=True)
    yield "a line 200,000 times", "".join(lines[:1] + lines[1:2] * 200_000)
    yield "many lines", "".join(lines[:1] + [re.sub(r"\d", str(n % 10), lines[-1]) for n in range(60_000)])
    yield "wide", text.replace("\n", "," * 5_000 + "\n")
    if suffix == ".json":
        yield "nested lists", "[" * 100_000 + "]" * 100_000
        yield "nested objects", '{"a":' * 5_000 + "1" + "}" * 5_000
        yield from _shapes(json.loads(text), chance)
    if suffix in (".svg", ".html"):
        deep = "<g>" * 20_000 + "</g>" * 20_000 if suffix == ".svg" else "<div>" * 100_000
        yield "nested", re.sub(r"(<(?:svg|body)[^>]*>)", lambda m: m.group(1) + deep, text, count=1)
        yield (
            "transformed",
            re.sub(r"<(path|rect|g|text|circle)\b", r'<\1 transform="rotate(99999999999999999999999)"', text),
        )
        for bad in ("scale(1e300) " * 20, "matrix(nan inf 1 1 1 1)", "rotate(1e999)", "skewX(90) " * 99, "scale(0)"):
            yield f"transform {bad[:20]}", re.sub(r"<(path|rect|g|text|circle)\b", rf'<\1 transform="{bad}"', text)
        for box in (
            "0 0 1e9 1e9",
            "0 0 99999999999999999999 1",
            "nan nan nan nan",
            "0 0 inf inf",
            "0 0 0 0",
            "0 0 -5 -5",
        ):
            yield f"viewBox {box}", re.sub(r'viewBox="[^"]*"', f'viewBox="{box}"', text)
        yield "entities", '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + text


def _shapes(value: Any, chance: random.Random) -> Iterator[tuple[str, str]]:
    """The value with one thing in it replaced by something of another type."""
    odd = [None, True, [], {}, "", "x", 10**307, -1.5e308, [[[]]], {"a": {"a": 1}}, "\ud800", [1] * 50_000]
    places = list(_places(value))
    for place in chance.sample(places, min(12, len(places))):
        for new in chance.sample(odd, 4):
            copy = json.loads(json.dumps(value))
            node = copy
            for step in place[:-1]:
                node = node[step]
            node[place[-1]] = new
            yield f"{'.'.join(map(str, place))} is {str(new)[:20]!r}", json.dumps(copy)
    for whole in odd:
        yield f"the whole is {str(whole)[:20]!r}", json.dumps(whole)


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*above, key)
        yield from _places(inner, (*above, key))


def _workbooks(data: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    strings = b"<si><t/></si>" * 4_500_000
    head = b'<?xml version="1.0"?><sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    yield "4.5 million shared strings", _replaced(data, "xl/sharedStrings.xml", head + strings + b"</sst>")
    rows = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (n, n) for n in range(1, 400_000))
    sheet = (
        b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b"<sheetData>" + rows + b"</sheetData></worksheet>"
    )
    yield "400,000 rows", _replaced(data, "xl/worksheets/sheet1.xml", sheet)
    yield "a row at the end", _replaced(data, "xl/worksheets/sheet1.xml", sheet.replace(rows, b'<row r="1048576"/>'))
    cell = b'<row r="1"><c r="XFD1"><v>1e999</v></c><c r="A1" t="d"><v>9999-99-99</v></c></row>'
    yield "odd cells", _replaced(data, "xl/worksheets/sheet1.xml", sheet.replace(rows, cell * 3))
    yield "styles", _replaced(data, "xl/styles.xml", b"<styleSheet>" + b"<x/>" * 3_000_000 + b"</styleSheet>")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [n for n in archive.namelist() if n.endswith(".xml")]
        for name in names:
            text = archive.read(name).decode("utf-8", "replace")
            numbers = list(_NUMBER.finditer(text))
            for value in chance.sample(NUMBERS, 3):
                for place in chance.sample(numbers, min(2, len(numbers))):
                    changed = text[: place.start()] + value + text[place.end() :]
                    yield f"{name}: {value[:20]}", _replaced(data, name, changed.encode())
            yield f"{name} is empty", _replaced(data, name, b"")


def _replaced(data: bytes, name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.namelist():
            if item != name:
                new.writestr(item, old.read(item))
        new.writestr(name, content)
    return made.getvalue()


def _floats(data: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    for value in (math.nan, math.inf, -math.inf, 3e38, 1e-45, 0.0):
        spoilt = bytearray(data)
        for _ in range(20):
            at = chance.randrange(84, max(85, len(data) - 4)) & ~3
            spoilt[at : at + 4] = struct.pack("<f", value)
        yield f"floats {value}", bytes(spoilt)
    for at in range(0, 44, 2):
        for word in (0, 0xFFFF):
            yield f"head at {at}: {word}", data[:at] + struct.pack("<H", word) + data[at + 2 :]


def graded(package: Package, instance: str, output: Path, place: Path) -> tuple[str, float]:
    """What went wrong ("" for nothing) and the seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY + LIBRARIES, MEMORY + LIBRARIES))
        found = grade(package, instance, output, place)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps(found).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not said:
        return f"died: status {status}", seconds
    found = json.loads(said)
    return ("" if "grade" in found else f"{found['failed']}: {found['reason'][-700:]}"), seconds


def main(argv: list[str]) -> int:
    package = Package.read(argv[1])
    share, seed = float(argv[2]) if len(argv) > 2 else 1.0, int(argv[3]) if len(argv) > 3 else 0
    instance = next(iter(package.instances))
    count, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        place, clean = Path(folder) / "place", Path(folder) / "clean"
        place.mkdir()
        shutil.copytree(package.reference(instance), clean)
        right, _ = graded(package, instance, clean, place)
        if right:
            sys.stdout.write(json.dumps({"what": "the reference itself", "said": right}) + "\n")
        chance, pick = random.Random(seed), random.Random(f"{seed}-pick")
        for name, what, do in mutants(clean, chance):
            if pick.random() >= share:
                continue
            output = Path(folder) / "output"
            shutil.rmtree(output, ignore_errors=True)
            shutil.copytree(clean, output)
            do(output / name)
            said, seconds = graded(package, instance, output, place)
            count, slowest = count + 1, max(slowest, seconds)
            if said or seconds > SECONDS / 2:
                line = {"file": name, "what": what, "seconds": round(seconds, 1), "said": said}
                sys.stdout.write(json.dumps(line) + "\n")
                sys.stdout.flush()
    sys.stdout.write(json.dumps({"task": argv[1], "graded": count, "slowest": round(slowest, 1)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

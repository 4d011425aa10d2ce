"""Reading of TOML and YAML files as plain values: within limits, without blocking, and with finite numbers only."""

from __future__ import annotations

import math
import os
import re
import shlex
import stat
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from worksample.errors import ManifestError

from .config_faults import CANDIDATES, Faults, nearest
from .key_paths import key_of

FILE_LIMIT = 4 << 20
"""Maximum bytes of a file."""
VALUE_LIMIT = 200_000
"""Maximum number of values in a file. YAML aliases count each time they are used."""
DEPTH_LIMIT = 64
"""Maximum depth of nesting."""
STEPS_LIMIT = 32
"""Maximum number of steps of a dotted TOML key."""
YAML_LIMIT = 1 << 20
"""Maximum bytes of a YAML file."""
_STEP = r"""(?:"[^"\n]*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"""(?<![\w."'-]){_STEP}(?:{_STEP}){{{STEPS_LIMIT}}}""", re.ASCII)
"""Pattern of a key with too many steps. The parser's time grows with the square of their number."""
WHOLE = 2**63 - 1
"""Largest absolute value of a whole number: TOML's guarantee, and the limit of databases."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's table. `broken` is True if the file is missing or unreadable; a fault has then been added."""

    file: str
    data: dict[str, Any]
    broken: bool = False


def need_file(path: Path) -> None:
    """Raise a one-line ManifestError if the given file does not exist."""
    try:
        there = path.exists()
    except OSError:  # such as a name that is too long for any file
        there = False
    if not there:
        near = nearest(path.name, _names_beside(path))
        raise ManifestError(f"no such file{near}", where=str(path), next=f"ls {shlex.quote(str(path.parent))}")


def _names_beside(path: Path) -> list[str]:
    try:
        with os.scandir(path.parent) as entries:
            return [entry.name for entry in islice(entries, CANDIDATES)]
    except OSError:
        return []


def read_toml(path: Path, name: str, faults: Faults) -> Document:
    """Read the table of a TOML file. name: the file's name in faults."""
    return _read_document(path, name, faults, "TOML", _toml)


def read_yaml(path: Path, name: str, faults: Faults) -> Document:
    """Read the table of a YAML file, with YAML's safe types only."""
    return _read_document(path, name, faults, "YAML", _yaml)


def load(path: Path) -> Any:
    """Read the values of a `.toml` file, or of any other as YAML (which includes JSON). Raises UnreadableFile."""
    yaml = path.suffix != ".toml"
    faults = Faults()
    data = _checked_values(
        _load_values(path, "YAML", _yaml) if yaml else _load_values(path, "TOML", _toml), path.name, faults
    )
    if faults.found:
        one = faults.found[0]
        raise UnreadableFile(f"{one.key}: {one.problem}" if one.key else one.problem)
    return data


def _load_values(path: Path, form: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(_bytes(path).decode("utf-8"))
    except FileNotFoundError:
        problem = "is missing"
    except OSError as error:
        problem = f"cannot be read: {(error.strerror or type(error).__name__).lower()}"
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text: byte {error.start}"
    except RecursionError:
        problem = f"is nested deeper than {DEPTH_LIMIT} levels"
    except UnreadableFile:
        raise
    except (ValueError, OverflowError) as error:
        # Python also raises this for a number with more than 4,300 digits.
        problem = f"is not {form}: {str(error).partition('; use ')[0]}"
    raise UnreadableFile(problem)


def _read_document(path: Path, name: str, faults: Faults, form: str, parse: Callable[[str], Any]) -> Document:
    try:
        data = _load_values(path, form, parse)
    except UnreadableFile as error:
        faults.add(name, "", str(error))
        return Document(name, {}, broken=True)
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        faults.add(name, "", "should hold keys with values", "`repeats: 3`" if form == "YAML" else "`repeats = 3`")
    elif (sound := _checked_values(data, name, faults)) is not None:
        return Document(name, sound)
    return Document(name, {}, broken=True)


class UnreadableFile(ValueError):
    """A file that cannot be read; the text says why."""


def _bytes(path: Path) -> bytes:
    # Do not wait: a pipe in the place of a file would block its reader for ever.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise UnreadableFile("is a folder, not a file" if stat.S_ISDIR(mode) else "is not a regular file")
        data = file.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        raise UnreadableFile(f"is larger than {FILE_LIMIT:,} bytes")
    return data


def _toml(text: str) -> Any:
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UnreadableFile(f"line {line}: a key has more than {STEPS_LIMIT} steps")
    return tomllib.loads(text)


def _yaml(text: str) -> Any:
    import yaml

    from .yaml_loader import TooDeep, TooMuch, loader, need_shallow

    if len(text) > YAML_LIMIT:
        raise UnreadableFile(f"is larger than {YAML_LIMIT:,} bytes")
    try:
        need_shallow(text, DEPTH_LIMIT + 1, VALUE_LIMIT)
        return yaml.load(text, Loader=loader(VALUE_LIMIT))
    except TooDeep:
        raise UnreadableFile(f"is nested deeper than {DEPTH_LIMIT} levels") from None
    except TooMuch:
        raise UnreadableFile(f"holds more than {VALUE_LIMIT:,} values, what is merged counted") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _checked_values(data: Any, name: str, faults: Faults) -> Any:
    """Return the values. Replace each forbidden value by None and report it as a fault."""
    count = 0

    def walk(value: Any, at: tuple[str | int, ...]) -> Any:
        nonlocal count
        count += 1
        if count > VALUE_LIMIT:
            raise UnreadableFile(f"holds more than {VALUE_LIMIT:,} values")
        if isinstance(value, dict | list) and len(at) > DEPTH_LIMIT:
            raise UnreadableFile(f"is nested deeper than {DEPTH_LIMIT} levels")
        if isinstance(value, dict):
            return {key: walk(inner, (*at, str(key))) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, (*at, i)) for i, inner in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            faults.add(name, key_of(at), f"{value} is not a finite number")
            return None
        if isinstance(value, int) and abs(value) > WHOLE:
            faults.add(name, key_of(at), "is a number beyond 64 bits", f"whole numbers up to {WHOLE}")
            return None
        return value

    try:
        return walk(data, ())
    except UnreadableFile as error:
        faults.add(name, "", str(error))
        return None

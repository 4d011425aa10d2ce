"""A table of a TOML file, read key by key: wrong types, missing and unknown keys become faults, reading goes on."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from .faults import Faults, nearest

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)")
_UNITS = {
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
TOML_LIMIT = 4 << 20
"""Bytes of a TOML file that are read."""


def parse_size(text: str) -> int | None:
    """Bytes of a size such as `2GiB` or `500 MB`; None where it is none."""
    match = _SIZE.fullmatch(text.strip())
    return int(float(match[1]) * _UNITS[match[2]]) if match else None


def read_toml(path: Path, name: str, faults: Faults) -> Table:
    """The whole of a TOML file; an empty table, and a fault, where it is missing or none."""
    try:
        data = path.read_bytes()
        if len(data) > TOML_LIMIT:
            raise ValueError(f"is larger than {TOML_LIMIT:,} bytes")
        return Table(tomllib.loads(data.decode("utf-8")), faults, name)
    except FileNotFoundError:
        faults.add(name, "", "is missing")
    except IsADirectoryError:
        faults.add(name, "", "is a folder, not a file")
    except UnicodeDecodeError as error:
        faults.add(name, "", f"is not UTF-8 text: byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        faults.add(name, "", f"is not TOML: {error}")
    except (ValueError, RecursionError) as error:
        faults.add(name, "", str(error))
    return Table({}, faults, name, broken=True)


class Table:
    """`at` is the path of keys to this table, for faults; `done` reports the keys that nobody asked for."""

    def __init__(
        self, data: Mapping[str, Any], faults: Faults, file: str, at: str = "", *, broken: bool = False
    ) -> None:
        self.data, self.faults, self.file, self.at, self.broken = data, faults, file, at, broken
        self.asked: set[str] = set()

    def key(self, name: str) -> str:
        """The whole path to a key."""
        return f"{self.at}.{name}" if self.at else name

    def fault(self, name: str, problem: str, allowed: str | Collection[str] = "") -> None:
        """Notes a fault at a key."""
        self.faults.add(self.file, self.key(name), problem, allowed)

    def has(self, name: str) -> bool:
        """Whether the key is there (which counts as asking for it)."""
        self.asked.add(name)
        return name in self.data

    def _get(self, name: str, kinds: type | tuple[type, ...], says: str, required: bool) -> Any:
        self.asked.add(name)
        if name not in self.data:
            if required and not self.broken:
                self.fault(name, "is missing", says)
            return None
        value = self.data[name]
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in wanted):
            self.fault(name, f"{_show(value)} has the wrong type", says)
            return None
        return value

    def text(
        self, name: str, default: str | None = None, *, pattern: str = "", choices: Collection[str] = (), says: str = ""
    ) -> str:
        """A text; required where no default is given."""
        words = says or (", ".join(choices) if choices else "a text")
        value = self._get(name, str, words, default is None)
        if value is None:
            return default or ""
        if not value.strip() and default != "":
            self.fault(name, "is empty", words)
        elif choices and value not in choices:
            self.fault(name, f"{value!r} is not allowed{nearest(value, choices)}", words)
        elif pattern and not re.fullmatch(pattern, value):
            self.fault(name, f"{value[:80]!r} is not allowed", words)
        else:
            return str(value)
        return default or ""

    def flag(self, name: str, default: bool) -> bool:
        value = self._get(name, bool, "true or false", False)
        return default if value is None else bool(value)

    def number(
        self, name: str, default: float | None = None, *, low: float = 0.0, above: bool = False, whole: bool = False,
        required: bool = False,
    ) -> float | None:  # fmt: skip
        """A finite number of at least `low` (more than it, with `above`)."""
        says = f"a {'whole ' if whole else ''}number {'above' if above else 'of at least'} {low:g}"
        value = self._get(name, (int,) if whole else (int, float), says, required)
        if value is None:
            return default
        if not math.isfinite(value) or value < low or (above and value == low):
            self.fault(name, f"{value} is not allowed", says)
            return default
        return float(value) if not whole else int(value)

    def size(self, name: str, default: int | None = None) -> int | None:
        """Bytes, from a whole number or a text such as `2GiB`."""
        says = "bytes as a whole number above 0, or a text such as '2GiB' or '500MB'"
        value = self._get(name, (int, str), says, False)
        if value is None:
            return default
        found = parse_size(value) if isinstance(value, str) else value
        if found is None or found <= 0:
            self.fault(name, f"{value!r} is no size", says)
            return default
        return int(found)

    def day(self, name: str) -> date | None:
        """A date without time; required."""
        value = self._get(name, date, "a date such as 2026-11-01, without quotation marks", True)
        return value.date() if isinstance(value, datetime) else value

    def texts(self, name: str, *, choices: Collection[str] | None = None, pattern: str = "") -> tuple[str, ...]:
        """A list of texts, each once."""
        says = "a list of texts"
        if choices is not None:
            says = f"a list of {', '.join(choices)}" if choices else "none yet: leave it out"
        value = self._get(name, list, says, False)
        kept = []
        for item in value or ():
            if not isinstance(item, str) or not item.strip():
                self.fault(name, f"{_show(item)} is no text", says)
            elif choices is not None and item not in choices:
                self.fault(name, f"{item!r} is not allowed{nearest(item, choices)}", says)
            elif pattern and not re.fullmatch(pattern, item):
                self.fault(name, f"{item[:80]!r} is not allowed", says)
            elif item in kept:
                self.fault(name, f"{item!r} stands twice")
            else:
                kept.append(item)
        return tuple(kept)

    def table(self, name: str, *, required: bool = False) -> Table:
        """A table below this one; an empty one where it is missing."""
        value = self._get(name, dict, "a table", required)
        return Table(value or {}, self.faults, self.file, self.key(name), broken=value is None)

    def tables(self, name: str) -> list[Table]:
        """A list of tables (`[[name]]`)."""
        says = f"tables, each begun with [[{self.key(name)}]]"
        value = self._get(name, list, says, False)
        found = []
        for i, item in enumerate(value or ()):
            at = f"{self.key(name)}[{i}]"
            if isinstance(item, dict):
                found.append(Table(item, self.faults, self.file, at))
            else:
                self.faults.add(self.file, at, f"{_show(item)} is no table", says)
        return found

    def free(self, name: str) -> dict[str, Any]:
        """A table with any keys, as JSON types; dates become texts, numbers must be finite."""
        value = self._get(name, dict, "a table", False)
        return {k: self._plain(v, f"{name}.{k}") for k, v in (value or {}).items()}

    def _plain(self, value: Any, at: str) -> Any:
        if isinstance(value, dict):
            return {k: self._plain(v, f"{at}.{k}") for k, v in value.items()}
        if isinstance(value, list):
            return [self._plain(v, f"{at}[{i}]") for i, v in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            self.fault(at, f"{value} is no finite number")
            return 0.0
        if isinstance(value, (str, bool, int, float)):
            return value
        return value.isoformat()

    def done(self) -> None:
        """Reports the keys that nobody asked for."""
        for name in self.data:
            if name not in self.asked:
                allowed = sorted(self.asked)
                self.fault(name, f"is no key of {self.at or 'this file'}{nearest(name, allowed)}", allowed)


def _show(value: Any) -> str:
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."

"""What Dockerfiles begin with alike: built once, by itself, and kept for others to begin with.

A beginning is a Dockerfile's text up to a `RUN`, where nothing in it depends on the files beside it. It is known by
that text, the digest of its base and the operator's variables, and it is built in a place of its own: so no build can
change what another begins with. It is kept from the second work on that has it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from worksample.files.scratch import remove_tree
from worksample.sandboxes.host_state import prefixes_folder

from .cache import find_cached
from .image_unpacker import BaseImage

MOST_KEPT = 8
"""Beginnings that are kept; those that were used last."""
SECOND, MANY = 2, 32
"""Works that have to begin alike before a beginning is built for itself: where none is kept that they could begin with,
and where one is, since a line more may save little and a build of all of it costs much.
"""
_VERSION = "1"
_PLAIN = frozenset({"ENV", "RUN", "WORKDIR", "USER", "LABEL"})
"""Instructions whose effect is all in the image that they leave. An ARG or a SHELL would be forgotten in it."""


_COPIED = re.compile(r"COPY\s+(?:--(?!from=)\S+\s+)*--from=(?!\d+\s)[^\s$]+\s[^$]*$", re.IGNORECASE)
"""A COPY from another image: with one stage alone it can be nothing else."""
_DIRECTIVE = re.compile(r"^#\s*(escape|syntax)\s*=", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """A beginning that is kept."""

    below: BaseImage
    store: Path
    """The storage of buildah with its image, which holds all of its layers."""
    rest: str
    """Of the Dockerfile: what comes after it."""


PrefixBuilder = Callable[[str, Path], BaseImage]
"""Builds a Dockerfile and moves its storage to a path, where it can be used again. Raises ImageError."""


def split_prefixes(text: str) -> list[tuple[str, str]]:
    """The beginnings of a Dockerfile and what follows each, shortest first; none where it has several stages."""
    found: list[tuple[str, str]] = []
    after = 0
    for words, end in _instructions(text):
        name = words.split(maxsplit=1)[0].upper()
        if not after:
            after = end
            if name != "FROM" or "$" in words or " AS " in words.upper():
                return []
        elif _COPIED.match(words):
            continue
        elif name not in _PLAIN or "<<" in words or re.match(r"RUN\s+--", words, re.IGNORECASE):
            break
        elif name == "RUN":
            found.append((text[:end], text[end:]))
    if re.search(r"^\s*FROM\s", text[after:], re.IGNORECASE | re.MULTILINE) or _DIRECTIVE.search(text):
        return []
    return [(begun, rest) for begun, rest in found if "--from=" not in rest]


def _instructions(text: str) -> Iterator[tuple[str, int]]:
    """Each instruction of a Dockerfile in one line, and where it ends."""
    words, end = "", 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        words += plain.removesuffix("\\") + " "
        if not plain.endswith("\\"):
            yield words.strip(), end
            words = ""


@contextmanager
def longest_prefix(
    text: str, whole: str, bases: Mapping[str, str], env: Mapping[str, str], make: PrefixBuilder
) -> Iterator[SharedPrefix | None]:
    """The longest beginning of a Dockerfile that is kept, held until the end of the `with`; None where none is. One
    that enough works have is built by `make` first.

    whole: digest of the Dockerfile with all that lies beside it. bases: the digest behind each name of a base that has
    none.
    """
    parts = split_prefixes(text)
    keys = [_key(part, bases, env) for part, _ in parts]
    kept = [number for number, key in enumerate(keys) if (_folder() / key).exists()]
    enough = MANY if kept else SECOND
    met = [number for number, key in enumerate(keys) if _count_uses(_folder() / f"{key}.met", whole) >= enough]
    longest = max((*kept, *met), default=None)
    if longest is None:
        yield None
        return
    found = _open_prefix(keys[longest])
    if found is None:
        _make(keys[longest], parts[longest][0], make)
        found = _open_prefix(keys[longest])
    if found is None:
        yield None
        return
    below, store, lock = found
    with lock:
        yield SharedPrefix(below, store, parts[longest][1])


def _count_uses(mark: Path, whole: str) -> int:
    """How many works had a beginning, with this one. The same again, as after a failure, is no further one."""
    with mark.open("a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        works = file.read().splitlines()
        if whole not in works and len(works) < MANY:
            works.append(whole)
            file.write(f"{whole}\n")
    return len(works)


def _key(part: str, bases: Mapping[str, str], env: Mapping[str, str]) -> str:
    words = [words for words, _ in _instructions(part)]
    used = {name: digest for name, digest in bases.items() if any(name in line for line in words)}
    told = [_VERSION, words, used, dict(env)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _folder() -> Path:
    """Where builds can reach it, and no other user can look or write."""
    folder = prefixes_folder()
    with suppress(FileExistsError):
        folder.mkdir(mode=0o711)
        folder.chmod(0o711)
    state = folder.lstat()
    if state.st_uid != os.geteuid() or folder.is_symlink() or state.st_mode & 0o022:
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder


def _open_prefix(key: str) -> tuple[BaseImage, Path, BinaryIO] | None:
    """A kept beginning, its storage, and the lock that keeps it."""
    folder = _folder() / key
    try:
        lock = (folder / "told.json").open("rb")
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_SH)
    told = json.loads(lock.read())
    image = find_cached(told["image"])
    if image is None or "files" not in told or not (folder / "store").is_dir():
        lock.close()
        return None
    os.utime(lock.fileno())
    layers = tuple((digest, size) for digest, size in told["layers"])
    return BaseImage(image, layers, told["files"]), folder / "store", lock


def _make(key: str, part: str, make: PrefixBuilder) -> None:
    """Build a beginning and keep it; others that want it wait. Those that were not used for longest go."""
    folder = _folder()
    with (folder / f".{key}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held = _open_prefix(key)
        if held is not None:
            held[-1].close()
            return
        fresh = folder / f".{key}.new"
        for left in (fresh, folder / key):
            remove_tree(left)
        fresh.mkdir(mode=0o711)
        fresh.chmod(0o711)
        try:
            below = make(part, fresh / "store")
            if (fresh / "store").is_dir():
                told = {"image": below.image.digest, "layers": below.layers, "files": below.files}
                (fresh / "told.json").write_text(json.dumps(told), encoding="utf-8")
                fresh.rename(folder / key)
        finally:
            remove_tree(fresh)
    _sweep(folder)


def _sweep(folder: Path) -> None:
    kept = sorted(folder.glob("*/told.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[MOST_KEPT:]:
        key = path.parent.name
        with (
            suppress(OSError),
            (folder / f".{key}.lock").open("w", encoding="utf-8") as making,
            path.open("rb") as lock,
        ):
            for held in (making, lock):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = folder / f".{key}.new"  # what a kill leaves of it is removed by the next process
            path.parent.rename(gone)
            remove_tree(gone)

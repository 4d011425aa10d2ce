"""Common prefixes of Dockerfiles: built once on their own, and kept for further builds to start from.

A prefix is a Dockerfile's text up to a `RUN`, if nothing in it depends on the files beside it. It is identified by that
text, the digest of its base and the operator's variables. It is built in a sandbox of its own, so no build can change
what another starts from. It is kept as soon as a second work has it.
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

from worksample.files.machine import sign_lock
from worksample.files.scratch_folder import remove_tree
from worksample.sandboxes.host_state import prefixes_folder

from .image_cache import find_cached
from .image_unpacker import BaseImage

MOST_KEPT = 8
"""Maximum number of prefixes that are kept; the least recently used are removed."""
SECOND, MANY = 2, 32
"""Number of works that must share a prefix before it is built: SECOND if no shorter prefix is kept, else MANY, since
one more line may save little and building all of it costs much."""
_VERSION = "1"
_PLAIN = frozenset({"ENV", "RUN", "WORKDIR", "USER", "LABEL"})
"""Instructions whose whole effect is in the resulting image. The image would forget an ARG or a SHELL."""


_COPIED = re.compile(r"COPY\s+(?:--(?!from=)\S+\s+)*--from=(?!\d+\s)[^\s$]+\s[^$]*$", re.IGNORECASE)
"""A COPY from another image; in a file with a single stage it can be nothing else."""
_DIRECTIVE = re.compile(r"^#\s*(escape|syntax)\s*=", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """A prefix that is kept."""

    below: BaseImage
    store: Path
    """Storage of buildah with the prefix's image and all its layers."""
    rest: str
    """The rest of the Dockerfile after the prefix."""


PrefixBuilder = Callable[[str, Path], BaseImage]
"""Builds a Dockerfile and moves buildah's storage to a path, from which it can be reused. Raises ImageError."""


def split_prefixes(text: str) -> list[tuple[str, str]]:
    """Return the prefixes of a Dockerfile with the rest after each, shortest first; none if it has several stages."""
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
    """Yield each instruction of a Dockerfile in one line, with the position of its end."""
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
    """Yield the longest kept prefix of a Dockerfile, locked during the `with`; None if there is none. A prefix that
    enough works share is built by `make` first.

    whole: digest of the Dockerfile and all files beside it. bases: digests of bases that are named without one.
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
    """Return how many works have had a prefix, including this one; a repeated build of the same work does not count."""
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
    """Return the folder of prefixes: builds can reach it, and no other user can list or write it."""
    folder = prefixes_folder()
    with suppress(FileExistsError):
        folder.mkdir(mode=0o711)
        folder.chmod(0o711)
    state = folder.lstat()
    if state.st_uid != os.geteuid() or folder.is_symlink() or state.st_mode & 0o022:
        raise PermissionError(f"the folder {folder} belongs to another user, is a link, or is writable by others")
    return folder


def _open_prefix(key: str) -> tuple[BaseImage, Path, BinaryIO] | None:
    """Return a kept prefix, its storage, and the lock that protects it."""
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
    """Build and keep a prefix, while others that want it wait; then remove the least recently used ones."""
    folder = _folder()
    with (folder / f".{key}.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign_lock(lock)
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
            (folder / f".{key}.lock").open("a", encoding="utf-8") as making,
            path.open("rb") as lock,
        ):
            for held in (making, lock):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sign_lock(making)
            gone = folder / f".{key}.new"  # if we are killed here, the next process removes the rest
            path.parent.rename(gone)
            remove_tree(gone)

"""Common prefixes of Dockerfiles. A prefix is built once and stored, and later builds start from its result.

A prefix is the text of a Dockerfile up to a `RUN` instruction, if nothing in this text depends on the files beside the
Dockerfile. A prefix is identified by its text, the digest of its base image and the operator's variables. Each prefix
is built in its own sandbox, so no build can change the result from which another build starts. A prefix is stored when
a second Dockerfile with the same prefix is built.
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
"""Maximum number of stored prefixes. Beyond this number, the least recently used prefixes are removed."""
SECOND, MANY = 2, 32
"""Number of Dockerfiles that must share a prefix before the prefix is built. SECOND applies if no shorter prefix is
stored, otherwise MANY: one more line may save little, and building the longer prefix costs much.
"""
_VERSION = "1"
_PLAIN = frozenset({"ENV", "RUN", "WORKDIR", "USER", "LABEL"})
"""Dockerfile instructions whose whole effect is stored in the resulting image. The effect of ARG or SHELL is not stored
in the image.
"""


_COPIED = re.compile(r"COPY\s+(?:--(?!from=)\S+\s+)*--from=(?!\d+\s)[^\s$]+\s[^$]*$", re.IGNORECASE)
"""Pattern of a COPY instruction that copies from another image. In a Dockerfile with a single stage, `--from` can name
nothing else than an image.
"""
_DIRECTIVE = re.compile(r"^#\s*(escape|syntax)\s*=", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """A stored prefix of Dockerfiles."""

    below: BaseImage
    store: Path
    """Folder with buildah's storage, which contains the image of the prefix and all layers of this image."""
    rest: str
    """The rest of the Dockerfile after the prefix."""


PrefixBuilder = Callable[[str, Path], BaseImage]
"""Type of a function that builds a Dockerfile and moves buildah's storage to a path, so that later builds can reuse the
storage. Raises ImageError.
"""


def split_prefixes(text: str) -> list[tuple[str, str]]:
    """Return each prefix of a Dockerfile with the text after the prefix, shortest prefix first. Return an empty list if
    the Dockerfile has several stages.
    """
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
    """Yield each instruction of a Dockerfile as one line, with the position in the text at which the instruction
    ends.
    """
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
    """Yield the longest stored prefix of a Dockerfile, or None if no prefix is stored. The prefix is locked during the
    `with` block. If enough Dockerfiles share a prefix that is not stored yet, `make` builds it first.

    `whole` is the digest of the Dockerfile and all files beside it. `bases` contains the digests of the base images
    that are named without a digest.
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
    """Return how many Dockerfiles have had this prefix, including the current one. A repeated build of the same
    Dockerfile and files is not counted again.
    """
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
    """Return the folder of stored prefixes. Builds can reach the folder; no other user can list it or write to it."""
    folder = prefixes_folder()
    with suppress(FileExistsError):
        folder.mkdir(mode=0o711)
        folder.chmod(0o711)
    state = folder.lstat()
    if state.st_uid != os.geteuid() or folder.is_symlink() or state.st_mode & 0o022:
        raise PermissionError(f"the folder {folder} belongs to another user, is a link, or is writable by others")
    return folder


def _open_prefix(key: str) -> tuple[BaseImage, Path, BinaryIO] | None:
    """Return a stored prefix, the path of its storage, and the lock that protects the prefix. Return None if the prefix
    is not stored.
    """
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
    """Build and store a prefix, then remove the least recently used prefixes. Other processes that need the same prefix
    wait meanwhile.
    """
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

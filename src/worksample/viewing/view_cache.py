"""Views that were made before, kept beside the records in the store: they can all be made again."""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Any

from worksample.records import Entry, canonical

from . import converter_requirements as needs
from .views import View

if TYPE_CHECKING:
    from worksample.store import Store

VERSION = 4
"""Raised whenever a converter gives something else for the same file."""


def key(manifest: str, entry: Entry) -> str:
    """By the content, by what its name can change, and by the files beside it, which models and sites refer to.

    `manifest`: the digest of the folder that the entry lies in.
    """
    name = entry.path.rsplit("/", 1)[-1].lower()
    extension = name.rpartition(".")[2] if "." in name else ""
    plain: list[Any] = [VERSION, entry.blob, extension]
    if extension in _REFERRING:
        plain.append(manifest)
        plain.append(entry.path)
    elif extension in _NAMED:
        plain.append(entry.path)
    return hashlib.sha256(canonical(plain)).hexdigest()


_REFERRING = {"obj", "gltf", "glb", "fbx", "3ds", "dae", "mtl", "html", "htm", "md", "markdown", "tex", "ltx", "mhtml"}
_NAMED = {"gz", "bz2", "xz", "csv", "tsv", "htm"}


class ViewCache:
    """The kept views of one store, at `views/<aa>/<key>.json`."""

    def __init__(self, store: Store) -> None:
        self._store, self._place = store, store.objects.place

    def find(self, key: str) -> View | None:
        """A kept view whose artefacts are all there and whose converter is still the one of this machine."""
        path = _path(key)
        if not self._place.has(path):
            return None
        try:
            plain = json.loads(self._place.read(path))
            view, by, version = View.from_plain(plain["view"]), str(plain["by"]), plain["version"]
            if plain["until"] is not None and plain["until"] < time.time():
                return None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        if by and (by not in needs.NEEDS or needs.version(by) != version):
            return None
        return view if all(self._store.blobs.has(digest) for digest in view.files.values()) else None

    def put(self, key: str, view: View, by: str, seconds: float | None = None) -> None:
        """`by`: the need that converted it; `seconds`: how long it counts. Raises StoreFull, StoreError."""
        self._store.blobs.flush()
        plain: dict[str, Any] = {"by": by, "version": needs.version(by) if by else "", "view": view.plain()}
        plain["until"] = None if seconds is None else int(time.time() + seconds)
        self._place.write(_path(key), canonical(plain))


def _path(key: str) -> str:
    return f"views/{key[:2]}/{key}.json"

"""Cache of views, kept beside the records in the store. Every view can be made again."""

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
"""Version of the converters. Increase it if a converter gives another result than before for the same file."""


def key(manifest: str, entry: Entry) -> str:
    """Compute the key from a file's content, the relevant part of its name, and the files beside it.

    Models and sites refer to files beside them. `manifest`: digest of the folder with the entry.
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
    """The cached views of one store, at `views/<aa>/<key>.json`."""

    def __init__(self, store: Store) -> None:
        self._store, self._place = store, store.objects.place

    def find(self, key: str) -> View | None:
        """Return a view if all its artefacts exist and this machine's converter is the one that made it."""
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
        """Store a view. `by`: the requirement that converted it; `seconds`: how long it is valid. Raises StoreFull,
        StoreError.
        """
        self._store.blobs.flush()
        plain: dict[str, Any] = {"by": by, "version": needs.version(by) if by else "", "view": view.plain()}
        plain["until"] = None if seconds is None else int(time.time() + seconds)
        self._place.write(_path(key), canonical(plain))


def _path(key: str) -> str:
    return f"views/{key[:2]}/{key}.json"

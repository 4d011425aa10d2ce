"""Lay manifests out as read-only folders, once each."""

from __future__ import annotations

import secrets
import shutil
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from worksample.files import materialise, read_manifest
from worksample.records import Manifest

from .blobs import Blobs


class Folders:
    """Folders below `root`, by manifest digest. Their files are hard links to blobs: only mount or read them."""

    def __init__(self, root: Path, drafts: Path, blobs: Blobs) -> None:
        self._root, self._drafts, self._blobs = root, drafts, blobs
        self.manifest = lru_cache(maxsize=256)(self._manifest)

    def _manifest(self, digest: str) -> Manifest:
        return read_manifest(self._blobs.read(digest))

    def path(self, digest: str) -> Path:
        """Return the folder of a manifest; create it if needed. Safe for any number of processes."""
        target = self._root / digest[:2] / digest
        if target.is_dir():
            return target
        manifest = self.manifest(digest)
        draft = self._drafts / f"folder-{secrets.token_hex(8)}"
        try:
            paths = self._blobs.paths(entry.blob for entry in manifest.entries)
            materialise(manifest, paths.__getitem__, draft, links=True, share=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Another process may have been quicker: its folder is as good.
            with suppress(FileExistsError, NotADirectoryError):
                _rename(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return target


def _rename(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError:
        if not target.is_dir():
            raise

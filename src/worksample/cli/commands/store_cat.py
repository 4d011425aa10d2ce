"""`worksample store cat`."""

from __future__ import annotations

import re
import shutil
import sys

import click

from worksample.cli.output import open_store, store_option
from worksample.errors import UsageError


@click.command("cat")
@click.argument("digest")
@store_option
def command(digest: str, store: str | None) -> None:
    """Write the bytes of a blob to standard output: a deliverable as it was handed in.

    DIGEST is its SHA-256, as reports show it. Files made by agents may be hostile: open them only in a safe place.
    """
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise UsageError(
            f"{digest!r} is not a digest: 64 characters of 0-9 and a-f", next="copy the whole digest from the report"
        )
    with open_store(store) as opened, opened.blobs.open(digest) as source:
        shutil.copyfileobj(source, sys.stdout.buffer)

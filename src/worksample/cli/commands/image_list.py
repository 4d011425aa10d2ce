"""`worksample image list`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, say_json, table


@click.command("list")
@json_option
def command(as_json: bool | None) -> int:
    """List the images unpacked here, with their size, and whether a box is using them."""
    from worksample.sandboxes.images.cache import list_cached

    found = list_cached()
    if as_json:
        say_json(
            [
                {
                    "digest": one.image.digest,
                    "folder": one.image.root.folder,
                    "over": list(one.image.root.over),
                    "bytes": one.bytes,
                    "files": one.files,
                    "user": one.image.root.user,
                    "in_use": one.in_use,
                    "left_out": dict(one.image.left_out),
                }
                for one in found
            ]
        )
        return 0
    rows = [
        (
            one.image.digest[:16],
            f"{one.bytes / 1e6:,.1f} MB",
            f"{one.files:,}",
            str(one.image.root.user),
            "yes" if one.in_use else "no",
        )
        for one in found
    ]
    table("", ("image", "on disk", "files", "user", "in use"), rows)
    return 0

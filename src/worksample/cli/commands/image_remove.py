"""`worksample image remove`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, printable, say_json


@click.command("remove")
@click.argument("digests", nargs=-1, required=True, metavar="DIGEST...")
@json_option
def command(digests: tuple[str, ...], as_json: bool | None) -> int:
    """Remove unpacked images. DIGEST may be the beginning of a digest.

    An image that a box is using is not removed. If a removed image is needed again, it is unpacked, built or pulled
    again.
    """
    from worksample.sandboxes.images.cache import remove_cached

    gone = []
    for digest in digests:
        one = remove_cached(digest)
        gone.append(one)
        if not as_json:
            click.echo(printable(f"removed {one.image.digest[:16]}, {one.bytes / 1e6:,.1f} MB"))
    if as_json:
        say_json([{"digest": one.image.digest, "bytes": one.bytes} for one in gone])
    return 0

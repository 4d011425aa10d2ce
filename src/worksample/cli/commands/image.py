"""Commands `worksample image ...`: list, check and remove the images that tasks bring."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from worksample.cli.output import json_option, printable, say_json, table

if TYPE_CHECKING:
    from worksample.box import Root


@click.command("list")
@json_option
def list_command(as_json: bool | None) -> int:
    """List the images unpacked here, with their size, and whether a box is using them."""
    from worksample.sandboxes.images.image_cache import list_cached

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


@click.command("check")
@click.argument("source", metavar="SOURCE")
@json_option
def check_command(source: str, as_json: bool | None) -> int:
    """Fetch an image as a task would, and show what a sandbox made from it offers.

    SOURCE is a folder with an OCI layout or a Dockerfile, an archive, a root file system, or docker://NAME@sha256:...
    """
    from worksample.sandboxes.images import prepare_image

    image = prepare_image(source)
    found = asyncio.run(_find_programs(image.root))
    if as_json:
        say_json({"digest": image.digest, "left_out": dict(image.left_out), "user": image.root.user, **found})
        return 0
    click.echo(
        printable(f"{image.digest[:16] or source}: user {image.root.user}, works in {image.root.workdir or 'scratch'}")
    )
    for name, there in found.items():
        click.echo(f"  {name:8} {'yes' if there else 'no'}")
    for what, count in image.left_out:
        click.echo(printable(f"  without {count:,} x {what}"))
    return 0


async def _find_programs(root: Root) -> dict[str, bool]:
    """Return whether each program that tools and tests need starts in a box with this root file system, by program
    name.
    """
    from worksample.box import BoxConfig
    from worksample.sandboxes import open_box

    asked = {
        "sh": ("sh", "-c", ":"),
        "bash": ("bash", "-c", ":"),
        "python3": ("python3", "-c", ""),
        "mkdir": ("mkdir", "-p", "/tmp"),
    }
    async with open_box(BoxConfig(root=root, python="none")) as box:
        return {name: (await box.run(argv, timeout=60)).returncode == 0 for name, argv in asked.items()}


@click.command("remove")
@click.argument("digests", nargs=-1, required=True, metavar="DIGEST...")
@json_option
def remove_command(digests: tuple[str, ...], as_json: bool | None) -> int:
    """Remove unpacked images. DIGEST may be the beginning of a digest.

    An image that a box is using is not removed. If a removed image is needed again, it is unpacked, built or pulled
    again.
    """
    from worksample.sandboxes.images.image_cache import remove_cached

    gone = []
    for digest in digests:
        one = remove_cached(digest)
        gone.append(one)
        if not as_json:
            click.echo(printable(f"removed {one.image.digest[:16]}, {one.bytes / 1e6:,.1f} MB"))
    if as_json:
        say_json([{"digest": one.image.digest, "bytes": one.bytes} for one in gone])
    return 0

"""`worksample image check`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from worksample.cli.output import json_option, printable, say_json

if TYPE_CHECKING:
    from worksample.box import Root


@click.command("check")
@click.argument("source", metavar="SOURCE")
@json_option
def command(source: str, as_json: bool | None) -> int:
    """Fetch an image as a task would, and say what a sandbox made from it offers.

    SOURCE is a folder with an OCI layout or a Dockerfile, an archive, a root file system, or docker://NAME@sha256:...
    """
    from worksample.sandboxes.images import prepare_image

    image = prepare_image(source)
    found = asyncio.run(_offers(image.root))
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


async def _offers(root: Root) -> dict[str, bool]:
    """Whether a box with it starts the programs that tools and tests look for."""
    from worksample.box import BoxConfig, open_box

    asked = {
        "sh": ("sh", "-c", ":"),
        "bash": ("bash", "-c", ":"),
        "python3": ("python3", "-c", ""),
        "mkdir": ("mkdir", "-p", "/tmp"),
    }
    async with open_box(BoxConfig(root=root, python="none")) as box:
        return {name: (await box.run(argv, timeout=60)).returncode == 0 for name, argv in asked.items()}

"""Layers beside a root look like layers unpacked into it, and need only their own space."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from sandboxes.images import machine
from sandboxes.images.image_fixtures import Entry, layer
from worksample.box import BoxConfig, Root
from worksample.sandboxes import open_box
from worksample.sandboxes.images import prepare_image, root_with_layers

WALK = """cd /seen && find . -printf '%p %y %m ' \\( -type f -exec cat {} ';' -o -type l -printf '%l' -o -true \\) \
-printf '\\n' | sort"""
NAMES = ("a", "b", "c")


@pytest.fixture
def image(tmp_path: Path) -> Root:
    return prepare_image(machine.make(tmp_path / "machine")).root


def below() -> bytes:
    entries = [Entry("seen", None)]
    for one in NAMES:
        entries += [Entry(f"seen/{one}", None, mode=0o750)]
        entries += [Entry(f"seen/{one}/{two}", None, mode=0o711) for two in NAMES]
        entries += [Entry(f"seen/{one}/{two}/{three}", b"below", mode=0o640) for two in NAMES for three in NAMES]
    return layer(*entries, Entry("seen/way", link="a"))


def drawn(seed: int) -> bytes:
    """Folders before what they hold, as boxes' changes have them; every kind of change."""
    draw = random.Random(seed)
    entries = [Entry("seen", None)]
    for one in draw.sample([*NAMES, "new"], 3):
        kind = draw.choice(["folder", "folder", "folder", "file", "gone", "link"])
        entries += _one(draw, f"seen/{one}", kind)
        if kind != "folder":
            continue
        for two in draw.sample([*NAMES, "new"], 3):
            kind = draw.choice(["folder", "file", "gone", "link", "hard"])
            entries += _one(draw, f"seen/{one}/{two}", kind)
            if kind == "folder":
                entries += _one(draw, f"seen/{one}/{two}/{draw.choice(NAMES)}", draw.choice(["file", "gone"]))
    return layer(*entries)


def _one(draw: random.Random, path: str, kind: str) -> list[Entry]:
    above, _, name = path.rpartition("/")
    if kind == "folder":
        closed = [Entry(f"{path}/.wh..wh..opq")] if draw.random() < 0.3 else []
        return [Entry(path, None, mode=draw.choice([0o700, 0o755])), *closed]
    if kind == "gone":
        return [Entry(f"{above}/.wh.{name}")]
    if kind == "link":
        return [Entry(path, link="../b")]
    if kind == "hard":
        return [Entry(f"{path}-first", b"shared"), Entry(path, hard=f"{path}-first")]
    return [Entry(path, f"new {path}".encode(), mode=draw.choice([0o600, 0o755]))]


async def seen(root: Root) -> str:
    async with open_box(BoxConfig(root=root, python="none")) as box:
        done = await box.run(["sh", "-c", WALK])
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


@pytest.mark.box
def test_box_sees_the_same_files_beside_the_root_or_in_it(image: Root, tmp_path: Path) -> None:
    (tmp_path / "below.tar").write_bytes(below())
    with root_with_layers(image, [tmp_path / "below.tar"], whole=True) as root:
        differ = set()
        for seed in range(12):
            layers = [tmp_path / f"{seed}-{number}.tar" for number in range(1 + seed % 3)]
            for number, path in enumerate(layers):
                path.write_bytes(drawn(100 * seed + number))
            with root_with_layers(root, layers) as apart, root_with_layers(root, layers, whole=True) as own:
                assert apart.over and apart.folder == root.folder and not own.over
                told = asyncio.run(seen(own))
                assert asyncio.run(seen(apart)) == told
                differ.add(told)
        assert len(differ) == 12


@pytest.mark.parametrize(
    "entries",
    [
        (Entry("way/x"),),
        (Entry("etc/passwd"),),
        (Entry("seen", None), Entry("seen/x", hard="etc/passwd")),
        (Entry("seen", None), Entry("seen/.wh.a"), Entry("seen/x", hard="seen/a")),
    ],
    ids=["below-a-link", "in-a-folder-that-it-lacks", "a-link-to-a-file-below", "a-link-to-a-mark"],
)
def test_layers_that_depend_on_the_root_get_a_copy_of_it(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "passwd").write_text("x")
    (root / "seen").mkdir()
    (root / "seen" / "a").write_text("x")
    (root / "way").symlink_to("etc")
    path = tmp_path / "layer.tar"
    path.write_bytes(layer(*entries))
    if entries[-1].hard == "seen/a":  # gone by then
        with pytest.raises(Exception, match="cannot be unpacked"), root_with_layers(Root(str(root)), [path]):
            pass
        return
    with root_with_layers(Root(str(root)), [path]) as found:
        assert not found.over and found.folder != str(root)
        last = entries[-1].name.replace("way", "etc")
        assert (Path(found.folder) / last).exists() and not (root / "seen" / "x").exists()

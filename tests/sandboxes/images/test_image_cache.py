"""The cache of images: listed, inspected, removed unless in use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.run_cli import cli
from sandboxes.images import machine
from worksample.box import BoxConfig
from worksample.errors import UsageError
from worksample.sandboxes import open_box
from worksample.sandboxes.images import prepare_image
from worksample.sandboxes.images.image_cache import images_folder, list_cached, remove_cached

pytestmark = pytest.mark.box


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An image as an archive, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "image.tar"
    source.write_bytes(machine.tarred(machine.make(tmp_path / "root")))
    return source


async def test_images_in_use_stay_and_others_are_removed(image: Path) -> None:
    assert list_cached() == ()
    root = prepare_image(image).root
    async with open_box(BoxConfig(root=root, python="none")) as box:
        assert (await box.run(["true"])).returncode == 0
        (one,) = list_cached()
        assert one.in_use and one.bytes > 0 and one.files > 0
        with pytest.raises(UsageError, match="as its root"):
            remove_cached(one.image.digest)
        assert (await box.run(["true"])).returncode == 0
    assert not list_cached()[0].in_use
    hidden = Path(root.folder) / "hidden"
    hidden.mkdir()
    (hidden / "file").write_text("x")
    hidden.chmod(0o500)
    assert remove_cached(one.image.digest[:12]).image.digest == one.image.digest
    assert list_cached() == () and not list(images_folder().glob("*.new"))
    assert prepare_image(image).root == root and (Path(root.folder) / "etc").is_dir()
    for wrong in ("", "zz", "0" * 70):
        with pytest.raises(UsageError, match="no image begins"):
            remove_cached(wrong)


def test_image_commands_list_check_and_remove(image: Path) -> None:
    said = cli("image", "check", str(image), "--json")
    offers = json.loads(said.stdout)
    assert said.returncode == 0 and offers["sh"] and offers["mkdir"], said
    (listed,) = json.loads(cli("image", "list", "--json").stdout)
    assert listed["digest"] == offers["digest"] and listed["in_use"] is False
    assert listed["digest"][:16] in cli("image", "list").stdout
    assert "removed" in cli("image", "remove", listed["digest"][:10]).stdout
    again = cli("image", "remove", listed["digest"])
    assert again.returncode == 2 and "worksample image list" in again.stderr
    broken = image.with_name("broken.tar")
    broken.write_bytes(b"none")
    assert "not a tar file" in cli("image", "check", str(broken)).stderr

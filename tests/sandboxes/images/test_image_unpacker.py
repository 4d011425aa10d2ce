"""Images are unpacked as the OCI specification says, and nothing leaves their folder."""

from __future__ import annotations

import concurrent.futures
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.images.image_fixtures import Entry, layer, layout, layout_with
from worksample.errors import ImageError
from worksample.sandboxes.images import ImageLimits, prepare_image
from worksample.sandboxes.images.image_cache import images_folder
from worksample.sandboxes.orphan_sweeper import _SWEPT


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    yield
    _SWEPT.clear()


def _unpacked(folder: Path, *layers: bytes, **config: object) -> Path:
    return Path(prepare_image(layout(folder, layers, config)).root.folder)


def _tree(root: Path) -> dict[str, str]:
    """Every file with its text, every folder, every link."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        found[name] = f"-> {path.readlink()}" if path.is_symlink() else "/" if path.is_dir() else path.read_text()
    return found


def test_later_layers_override_earlier_ones(tmp_path: Path) -> None:
    first = layer(Entry("a/one", b"1"), Entry("a/two", b"2"), Entry("b/three", b"3"), Entry("link", link="a"))
    second = layer(
        Entry("a/.wh.one"),
        Entry("b/.wh..wh..opq"),
        Entry("b/four", b"4"),
        Entry("link/through", b"in a"),
        Entry("./c/", None),
    )
    assert _tree(_unpacked(tmp_path / "image", first, second)) == {
        "a": "/", "a/two": "2", "a/through": "in a", "b": "/", "b/four": "4", "c": "/", "link": "-> a",
    }  # fmt: skip


def test_opaque_folder_hides_lower_layers_only(tmp_path: Path) -> None:
    first = layer(Entry("b/old", b""), Entry("b/c/old", b""))
    second = layer(Entry("b/c/new", b"n"), Entry("b/.wh.same"), Entry("b/same", b"s"), Entry("b/.wh..wh..opq"))
    assert _tree(_unpacked(tmp_path / "image", first, second)) == {
        "b": "/", "b/c": "/", "b/c/new": "n", "b/same": "s",
    }  # fmt: skip


def test_files_replace_folders_and_folders_files(tmp_path: Path) -> None:
    first = layer(Entry("a/below", b""), Entry("b", b"file"), Entry("c", link="a"))
    second = layer(Entry("a", b"now a file"), Entry("b", None), Entry("c", b"no link"))
    found = _tree(_unpacked(tmp_path / "image", first, second))
    assert found == {"a": "now a file", "b": "/", "c": "no link"}


ESCAPES = {
    "a link to the host and a file through it": [Entry("out", link="{host}"), Entry("out/planted", b"x")],
    "a relative link up and a file through it": [Entry("out", link="../" * 40 + "{host}"), Entry("out/planted", b"x")],
    "names that go up": [Entry("../" * 40 + "{host}/planted", b"x")],
    "an absolute name": [Entry("{host}/planted", b"x")],
    "a hard link to a file of the host": [Entry("stolen", hard="{host}/secret"), Entry("stolen", b"x")],
    "a hard link through a link": [Entry("out", link="{host}"), Entry("stolen", hard="out/secret")],
    "a whiteout through a link": [Entry("out", link="{host}"), Entry("out/.wh.secret", b"")],
    "an opaque folder through a link": [Entry("out", link="{host}"), Entry("out/.wh..wh..opq", b"")],
    "a whiteout that goes up": [Entry(".wh...", b""), Entry(".wh..", b"")],
    "a link that is replaced by a folder": [Entry("out", link="{host}"), Entry("out", None), Entry("out/planted", b"")],
}


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("apart", [False, True], ids=["one layer", "a layer each"])
def test_nothing_is_written_outside_the_folder(name: str, apart: bool, tmp_path: Path) -> None:
    host = tmp_path / "host"
    host.mkdir()
    (host / "secret").write_text("secret")
    entries = [one.formed(host=str(host)) for one in ESCAPES[name]]
    layers = [layer(one) for one in entries] if apart else [layer(*entries)]
    try:
        root = _unpacked(tmp_path / "image", *layers)
    except ImageError:
        assert not [path for path in images_folder().iterdir() if not path.name.endswith(".lock")]
    else:
        assert not any(
            path.read_text() == "secret" for path in root.rglob("*") if path.is_file() and not path.is_symlink()
        )
    assert {path.name: path.read_text() for path in host.iterdir()} == {"secret": "secret"}
    assert (host / "secret").stat().st_nlink == 1


def test_devices_pipes_and_setuid_bits_are_left_out_and_counted(tmp_path: Path) -> None:
    entries = (
        Entry("disk", b"", kind=tarfile.BLKTYPE),
        Entry("null", b"", kind=tarfile.CHRTYPE),
        Entry("pipe", b"", kind=tarfile.FIFOTYPE),
        Entry("su", b"#!", mode=0o6755),
        Entry("mine", b"", mode=0),
    )
    found = prepare_image(layout(tmp_path / "image", [layer(*entries)], {}))
    assert dict(found.left_out) == {"devices and pipes": 3, "setuid bits": 1}
    root = Path(found.root.folder)
    assert sorted(path.name for path in root.iterdir()) == ["mine", "su"]
    assert (root / "su").stat().st_mode & 0o7777 == 0o755
    assert (root / "mine").stat().st_mode & 0o7777 == 0o600


def test_layers_are_limited_as_in_container_engines(tmp_path: Path) -> None:
    layers = [layer(Entry(f"file{n}", b"%d" % n), Entry("last", b"%d" % n)) for n in range(100)]
    found = _tree(_unpacked(tmp_path / "image", *layers))
    assert len(found) == 101 and found["last"] == "99"
    with pytest.raises(ImageError, match="128 layers") as told:
        _unpacked(tmp_path / "more", *[layer(Entry("a", b"%d" % n)) for n in range(128)])
    assert "buildah commit --squash" in told.value.next


def test_image_for_another_machine_names_the_command_for_ours(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="the image is for linux/vax") as told:
        prepare_image(
            layout_with(tmp_path / "image", [layer(Entry("a", b""))], [layer(Entry("a", b""))], machine="vax")
        )
    assert re.search(r"--override-arch \w+ copy docker://NAME oci:NEW", told.value.next)


def test_incomplete_layout_asks_for_a_new_download(tmp_path: Path) -> None:
    for blob in sorted((layout(tmp_path / "image", [layer(Entry("a", b"x"))], {})).glob("blobs/*/*")):
        blob.rename(tmp_path / "away")
        with pytest.raises(ImageError, match="the OCI layout lacks") as told:
            prepare_image(tmp_path / "image")
        assert "skopeo copy docker://NAME" in told.value.next
        (tmp_path / "away").rename(blob)


@pytest.mark.parametrize("where", ["content", "header", "after the end"])
def test_zip_bomb_is_refused_at_the_limit_and_leaves_nothing(where: str, tmp_path: Path) -> None:
    zeros = 64 << 20
    if where == "content":
        data = layer(Entry("zeros", bytes(zeros)))
    elif where == "header":
        out = io.BytesIO()
        head = tarfile.TarInfo("x")
        head.type, head.size = tarfile.XHDTYPE, zeros
        out.write(head.tobuf(tarfile.USTAR_FORMAT) + bytes(zeros))
        data = out.getvalue()
    else:
        data = layer(Entry("a", b"")) + bytes(zeros)
    image = layout_with(tmp_path / "image", [gzip.compress(data, 1)], [data])
    assert sum(path.stat().st_size for path in image.rglob("*")) < 1 << 20
    with pytest.raises(ImageError, match=r"more than|a header of"):
        prepare_image(image, ImageLimits(bytes=32 << 20))
    assert not [path for path in images_folder().iterdir() if not path.name.endswith(".lock")]


def test_wrong_digest_anywhere_is_refused(tmp_path: Path) -> None:
    for number, blob in enumerate(
        sorted((layout(tmp_path / "image", [layer(Entry("a", b"x"))], {})).glob("blobs/*/*"))
    ):
        other = layout(tmp_path / f"image{number}", [layer(Entry("a", b"x"))], {})
        changed = other / blob.relative_to(tmp_path / "image")
        changed.write_bytes(changed.read_bytes() + b" ")
        with pytest.raises(ImageError, match=r"sha256:"):
            prepare_image(other)
    plain = layer(Entry("a", b"x"))
    with pytest.raises(ImageError, match="instead of"):  # the config names another content than the layer has
        prepare_image(layout_with(tmp_path / "differs", [gzip.compress(plain)], [layer(Entry("a", b"y"))]))


@pytest.mark.parametrize("cut", [0, 1, 5, 30, 600, -1])
def test_truncated_or_invalid_archive_is_refused(cut: int, tmp_path: Path) -> None:
    whole = gzip.compress(layer(Entry("a", os.urandom(4096))))
    (tmp_path / "root.tar").write_bytes(whole[:cut] if cut else b"no archive at all")
    with pytest.raises(ImageError):
        prepare_image(tmp_path / "root.tar")


def test_config_says_how_the_image_is_run(tmp_path: Path) -> None:
    passwords = b"root:x:0:0::/root:/bin/sh\napp:x:1234:99::/home/app:/bin/sh\n"
    config = {"User": "app:staff", "WorkingDir": "work", "Env": ["A=b=c", "PATH=/x"], "Entrypoint": ["/init", "--"]}
    root = prepare_image(layout(tmp_path / "image", [layer(Entry("etc/passwd", passwords))], config)).root
    assert (root.user, root.home, root.workdir) == (1234, "/home/app", "/work")
    assert dict(root.env) == {"A": "b=c", "PATH": "/x"} and root.entrypoint == ("/init", "--")
    assert prepare_image(tmp_path / "image").root == root
    with pytest.raises(ImageError, match="nobody-knows"):
        prepare_image(layout(tmp_path / "other", [layer(Entry("a", b""))], {"User": "nobody-knows"}))
    strange = layer(Entry("etc/passwd", link="/proc/self/environ"))
    assert prepare_image(layout(tmp_path / "strange", [strange], {"User": "7"})).root.user == 7


@pytest.mark.parametrize("form", ["oci archive", "docker archive", "root file system"])
def test_archive_formats_are_recognised(form: str, tmp_path: Path) -> None:
    data = layer(Entry("etc/note", b"hello"))
    archive = tmp_path / "image.tar"
    if form == "oci archive":
        with tarfile.open(archive, "w") as tar:
            tar.add(layout(tmp_path / "image", [data], {"User": "7"}), ".")
    elif form == "docker archive":
        config = {"config": {"User": "7"}, "rootfs": {"diff_ids": [layout_digest(data)]}}
        manifest = [{"Config": "c.json", "Layers": ["l/layer.tar"], "RepoTags": ["x:1"]}]
        texts = {
            "c.json": json.dumps(config).encode(),
            "l/layer.tar": data,
            "manifest.json": json.dumps(manifest).encode(),
        }
        archive.write_bytes(layer(*(Entry(name, text) for name, text in texts.items())))
    else:
        archive.write_bytes(gzip.compress(data))
    found = prepare_image(archive)
    assert _tree(Path(found.root.folder)) == {"etc": "/", "etc/note": "hello"}
    assert found.root.user == (0 if form == "root file system" else 7)
    assert prepare_image(archive) == found


def layout_digest(data: bytes) -> str:
    import hashlib

    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_two_concurrent_unpackers_unpack_once(tmp_path: Path) -> None:
    image = layout(tmp_path / "image", [layer(*(Entry(f"f{n}", b"x") for n in range(2000)))], {})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = {one.result() for one in [pool.submit(prepare_image, image) for _ in range(4)]}
    assert len(found) == 1
    assert len(list(Path(found.pop().root.folder).iterdir())) == 2000


def test_kill_midway_leaves_no_partial_image(tmp_path: Path) -> None:
    image = layout(tmp_path / "image", [layer(*(Entry(f"f{n}", b"x" * 2000) for n in range(8_000)))], {})
    code = f"from worksample.sandboxes.images import prepare_image; prepare_image({str(image)!r})"
    process = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 300
    while not list(images_folder().glob(".*.new/root/f1000")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(images_folder().glob(".*.new")) and not list(images_folder().glob("[0-9a-f]*"))
    _SWEPT.clear()
    other = layout(tmp_path / "other", [layer(Entry("a", b""))], {})
    prepare_image(other)
    assert not list(images_folder().glob(".*.new"))
    assert len(list(Path(prepare_image(image).root.folder).iterdir())) == 8_000


def test_reference_must_name_one_image() -> None:
    with pytest.raises(ImageError, match="its digest is missing") as told:
        prepare_image("docker://docker.io/library/debian:bookworm")
    assert "skopeo inspect" in str(told.value)

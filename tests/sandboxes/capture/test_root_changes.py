"""Changes to an image's root as a layer: removal marks, limits, hostile content."""

from __future__ import annotations

import io
import os
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from worksample.box import Root
from worksample.errors import Cause
from worksample.files import HashSink, ScanLimits
from worksample.records import CaptureStatus, SubmissionPart
from worksample.sandboxes.capture.root_changes import root_changes
from worksample.sandboxes.images import root_with_layers


class Kept(HashSink):
    """A sink that shows the last file."""

    data = b""

    def put_file(self, fd: int, size: int) -> str:
        self.data = os.pread(fd, size, 0)
        return super().put_file(fd, size)


def taken(
    upper: Path, limits: ScanLimits | None = None, until: float = 60
) -> tuple[dict[str, bytes], SubmissionPart, Cause | None]:
    sink = Kept()
    part, cause = root_changes(upper, sink, limits or ScanLimits(), time.monotonic() + until)
    with tarfile.open(fileobj=io.BytesIO(sink.data)) as tar:
        return {member.name: member.type for member in tar}, part, cause


@pytest.fixture
def upper(tmp_path: Path) -> Path:
    folder = tmp_path / "upper"
    (folder / "srv").mkdir(parents=True)
    (folder / "srv" / "file").write_text("x" * 1000)
    return folder


def test_links_stay_links_and_the_boxs_own_files_are_left_out(upper: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    (upper / "out").symlink_to(tmp_path)
    (upper / "srv" / "secret").symlink_to(tmp_path / "secret")
    os.link(upper / "srv" / "file", upper / "srv" / "second")
    os.mkfifo(upper / "pipe")
    for own in ("etc", "dev", "proc"):
        (upper / own).mkdir()
    for name in ("hosts", "own"):
        (upper / "etc" / name).write_text("")
    names, part, cause = taken(upper)
    assert cause is None and part.status is CaptureStatus.COMPLETE
    assert names.keys() == {"srv", "srv/file", "srv/second", "srv/secret", "out", "etc", "etc/own"}
    assert names["out"] == names["srv/secret"] == tarfile.SYMTYPE and names["srv/second"] == tarfile.LNKTYPE


@pytest.mark.parametrize(
    ("limits", "until", "cause"),
    [
        (ScanLimits(files=3), 60, Cause.CAPTURE_TOO_MANY),
        (ScanLimits(bytes=1500), 60, Cause.CAPTURE_TOO_LARGE),
        (ScanLimits(depth=3), 60, Cause.CAPTURE_UNREADABLE),
        (ScanLimits(seconds=0), 60, Cause.CAPTURE_TIME),
        (ScanLimits(), -1, Cause.CAPTURE_FAILED),
    ],
)
def test_content_beyond_a_limit_is_left_out_and_reported(
    limits: ScanLimits, until: float, cause: Cause, upper: Path
) -> None:
    (upper / "tmp" / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
    (upper / "tmp" / "more").write_text("y" * 1000)
    _, part, found = taken(upper, limits, until)
    assert found is cause and part.status is CaptureStatus.PARTIAL and part.reason


def test_agents_names_that_mark_removals_are_left_out(upper: Path) -> None:
    (upper / "srv" / ".wh.etc").write_text("")
    (upper / "srv" / ".wh..wh..opq").write_text("")
    names, part, cause = taken(upper)
    assert names.keys() == {"srv", "srv/file"} and cause is Cause.CAPTURE_UNREADABLE and ".wh." in part.reason


def test_changed_root_shares_files_with_the_unchanged_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # Where files can be shared: on the same disk.
    root, layer = tmp_path / "root", tmp_path / "layer.tar"
    for name in ("etc/kept", "etc/gone", "etc/changed", "old/a"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "outside").symlink_to("/old")
    with tarfile.open(layer, "w") as tar:
        for name in ("etc/.wh.gone", "etc/changed", "old/.wh..wh..opq", "old/b", "outside/x", "../y"):
            info = tarfile.TarInfo(name)
            info.size = 3
            tar.addfile(info, io.BytesIO(b"new"))
    with root_with_layers(Root(str(root)), [layer]) as found:  # names below a link: a root of its own
        own = Path(found.folder)
        assert sorted(path.name for path in (own / "etc").iterdir()) == ["changed", "kept"]
        assert (own / "etc" / "changed").read_text() == "new" and not (own / "old" / "a").exists()
        assert (own / "old" / "x").exists()
        assert (own / "etc" / "kept").samefile(root / "etc" / "kept") and (own / "y").exists()
        assert found == replace(Root(str(root)), folder=str(own))
    assert not own.exists() and not (tmp_path / "x").exists() and not (tmp_path / "y").exists()
    assert (root / "etc" / "changed").read_text() == "etc/changed" and (root / "old" / "a").exists()

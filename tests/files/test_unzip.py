"""Unpacking of hostile archives."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample.errors import CaptureError, Cause
from worksample.files import ScanLimits, unzip


def make(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as z:
        for name, data in members:
            z.writestr(name, data)
    return path


def refused(archive: Path, match: str, limits: ScanLimits = ScanLimits()) -> CaptureError:  # noqa: B008
    target = archive.parent / "target"
    with pytest.raises(CaptureError, match=match) as caught:
        unzip(archive, target, limits)
    assert not target.exists()
    assert [p.name for p in archive.parent.iterdir()] == [archive.name], "something was left behind"
    return caught.value


def info(name: str, mode: int = 0) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_plain_archive_is_unpacked(tmp_path: Path, method: int) -> None:
    members = [("a/b.txt", b"hello"), ("empty/", b""), (info("run", stat.S_IFREG | 0o755), b"#!")]
    unzip(make(tmp_path / "z", *members, method=method), tmp_path / "target")
    target = tmp_path / "target"
    assert (target / "a" / "b.txt").read_bytes() == b"hello"
    assert (target / "empty").is_dir()
    assert (target / "run").stat().st_mode & 0o111
    assert not (target / "a" / "b.txt").stat().st_mode & 0o111


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a//b", "./a", "c\\..\\x", "C:\\x"])
def test_paths_outside_are_refused(tmp_path: Path, name: str) -> None:
    refused(make(tmp_path / "z", (info(name), b"x")), "step|absolute|backslash")


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path: Path, mode: int) -> None:
    refused(make(tmp_path / "z", (info("x", mode | 0o777), b"/etc/passwd")), "link or a device")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_conflicting_members_are_refused(tmp_path: Path) -> None:
    refused(make(tmp_path / "z", ("a", b"1"), ("a", b"2")), "two entries")
    refused(make(tmp_path / "z", ("a", b"1"), ("a/b", b"2")), "has a file as its folder")
    refused(make(tmp_path / "z", ("a/b", b"1"), ("a", b"2")), "has a file as its folder")


def test_bomb_ends_at_the_limit_despite_its_header(tmp_path: Path) -> None:
    archive = make(tmp_path / "z", ("zeros", bytes(3_000_000)))
    error = refused(archive, "unpacks to more than 1,000,000 bytes", ScanLimits(bytes=1_000_000))
    assert error.cause is Cause.CAPTURE_TOO_LARGE
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rfind(signature)
        struct.pack_into("<L", data, at + offset, 10)
    archive.write_bytes(data)
    refused(archive, "damaged|more than", ScanLimits(bytes=1_000_000))


def test_too_many_members_and_huge_directories_are_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "z", *((f"{i}", b"") for i in range(20)))
    assert refused(archive, "more than 10 entries", ScanLimits(files=10)).cause is Cause.CAPTURE_TOO_MANY
    refused(archive, "more than 1 entries", ScanLimits(files=1, path=10))


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "z", ("a", b"x"))
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(signature) + offset] |= 1
    archive.write_bytes(data)
    refused(archive, "encrypted")


def test_too_deep_and_too_long_paths_are_refused(tmp_path: Path) -> None:
    refused(make(tmp_path / "z", ("a/" * 70 + "x", b"")), "too many folders")
    refused(make(tmp_path / "z", ("x" * 300, b"")), "too long")


def test_non_empty_target_is_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "z", ("a", b"x"))
    (tmp_path / "target").mkdir()
    unzip(archive, tmp_path / "target")
    with pytest.raises(CaptureError, match="not empty"):
        unzip(archive, tmp_path / "target")


def _sample() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("folder/one.txt", b"one" * 50)
        z.writestr("two", b"2")
    return made.getvalue()


SAMPLE = _sample()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_damaged_archive_is_refused_or_unpacked_completely(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("zip")
    data = bytearray(SAMPLE)
    for at, value in changes:
        data[at] = value
    (folder / "z").write_bytes(data[: len(data) - cut])
    try:
        unzip(folder / "z", folder / "target")
    except CaptureError:
        assert not (folder / "target").exists()
    assert {p.name for p in folder.iterdir()} <= {"z", "target"}

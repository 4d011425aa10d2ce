"""An agent's own log, with arbitrary content."""

from __future__ import annotations

import io
import tarfile

import pytest

from worksample.runs.agent_log import MEMBERS, _files


def archive(count: int) -> bytes:
    """Empty files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for number in range(count):
            tar.addfile(tarfile.TarInfo(f"log/{number}"))
    return out.getvalue()


def test_log_of_many_files_is_captured_to_its_limit() -> None:
    files, whole = _files(archive(10))
    assert (len(files), whole) == (10, True)
    files, whole = _files(archive(MEMBERS + 5))
    assert (len(files), whole) == (MEMBERS, False)


def sparse(size: int) -> bytes:
    """An archive of one file that is nothing but a hole of `size` bytes."""
    header = bytearray(tarfile.TarInfo("hole").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    for place in (386, 483):
        header[place : place + 12] = b"%011o\0" % size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + bytes(1024)


def headers_of_headers(count: int) -> bytes:
    """An archive in which each header says that the next one's name is long."""
    name = tarfile.TarInfo("x")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 5
    return (name.tobuf(tarfile.GNU_FORMAT) + b"abcd".ljust(512, b"\0")) * count


@pytest.mark.parametrize("hostile", [sparse(8**11 - 1), headers_of_headers(20_000)], ids=["a hole", "headers"])
def test_invalid_archive_is_an_incomplete_log(hostile: bytes) -> None:
    assert _files(hostile) == ({}, False)

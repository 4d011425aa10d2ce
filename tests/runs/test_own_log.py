"""An agent's own log, which it may fill with whatever it likes."""

from __future__ import annotations

import io
import tarfile

from worksample.runs.own_log import MEMBERS, _files


def archive(count: int) -> bytes:
    """Empty files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for number in range(count):
            tar.addfile(tarfile.TarInfo(f"log/{number}"))
    return out.getvalue()


def test_a_log_of_many_files_is_taken_to_its_limit() -> None:
    files, whole = _files(archive(10))
    assert (len(files), whole) == (10, True)
    files, whole = _files(archive(MEMBERS + 5))
    assert (len(files), whole) == (MEMBERS, False)

"""Exact and hashed values (ALE C.3.2): short answers that must equal the reference after normalisation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worksample.errors import Cause, GraderError
from worksample.kit.check_score import Check
from worksample.kit.source import deliverable, read_bytes, reference
from worksample.kit.text import TEXT_LIMIT, read_text

STEPS = ("strip", "space", "case", "quotes")
"""Names of the differences that a comparison can ignore: white space at both ends (`strip`), runs of white space
(`space`), upper and lower case (`case`), quotation marks around the whole text (`quotes`).
"""


def normalise(text: str, steps: Iterable[str] = ("strip",)) -> str:
    """Return `text` without the differences that `steps` names (see `STEPS`). Raises GraderError if a name is
    unknown.
    """
    for step in steps:
        if step == "strip":
            text = text.strip()
        elif step == "space":
            text = " ".join(text.split())
        elif step == "case":
            text = text.casefold()
        elif step == "quotes":
            text = text.strip()
            text = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text
        else:
            raise GraderError(
                f"normalise has no step {step!r}", next=f"one of {', '.join(STEPS)}", cause=Cause.GRADER_CRASH
            )
    return text


def exact(got: Path | str | bytes, want: Path | str | bytes, *, ignore: Iterable[str] = ("strip",)) -> Check:
    """Return 1 if `got` and `want` are equal after normalisation, otherwise 0.

    Paths are read as text; bytes are compared byte by byte. Raises DeliverableError if `got` cannot be read;
    ReferenceUnreadable if `want` cannot be read.
    """
    steps = tuple(ignore)
    if isinstance(got, bytes) or isinstance(want, bytes):
        return _bytes(got, want)
    if isinstance(got, Path):
        with deliverable(got.name):
            got = read_text(got)
    if isinstance(want, Path):
        with reference(want.name):
            want = read_text(want)
    left, right = normalise(got, steps), normalise(want, steps)
    if left == right:
        return Check(1.0)
    return Check(0.0, f"{left[:80]!r} instead of {right[:80]!r}")


def _bytes(got: Path | str | bytes, want: Path | str | bytes) -> Check:
    if isinstance(got, Path):
        with deliverable(got.name):
            got = read_bytes(got, TEXT_LIMIT)
    if isinstance(want, Path):
        with reference(want.name):
            want = read_bytes(want, TEXT_LIMIT)
    left = got.encode() if isinstance(got, str) else got
    right = want.encode() if isinstance(want, str) else want
    return Check.of(left == right, "" if left == right else f"{len(left)} bytes differ from the expected {len(right)}")


def hashed(
    got: Path | str | bytes, digests: str | Iterable[str], *, ignore: Iterable[str] = ("strip",),
    algorithm: str = "sha256",
) -> Check:  # fmt: skip
    """Return 1 if the hexadecimal digest of `got` is one of `digests`, otherwise 0.

    The digest is computed over the normalised text, or over the bytes of the file if `ignore` is empty.
    """
    import hashlib

    steps = tuple(ignore)
    wanted = {d.strip().lower() for d in ([digests] if isinstance(digests, str) else digests)}
    if isinstance(got, Path):
        with deliverable(got.name):
            got = read_text(got) if steps else read_bytes(got, TEXT_LIMIT)
    data = normalise(got, steps).encode() if isinstance(got, str) else got
    if algorithm not in hashlib.algorithms_available:
        raise GraderError(f"unknown hash algorithm {algorithm!r}", next="use sha256", cause=Cause.GRADER_CRASH)
    found = hashlib.new(algorithm, data).hexdigest()
    return Check.of(found in wanted, "" if found in wanted else "the value differs from the expected one")

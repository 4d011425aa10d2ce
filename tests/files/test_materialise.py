"""Materialising manifests as folders."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample.errors import CaptureError
from worksample.files import HashSink, materialise, scan
from worksample.files.folder_writer import stays_inside
from worksample.records import Entry, EntryKind, Manifest, digest_bytes, quote_path


class Kept:
    """Blobs in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def put(self, data: bytes) -> str:
        digest = digest_bytes(data)
        path = self.root / digest
        path.write_bytes(data)
        path.chmod(0o444)
        return digest

    def path(self, digest: str) -> Path:
        return self.root / digest

    def file(self, path: str, data: bytes, **rest: bool) -> Entry:
        return Entry(path=path, size=len(data), blob=self.put(data), **rest)  # type: ignore[arg-type]


def manifest(*entries: Entry) -> Manifest:
    return Manifest(entries=tuple(sorted(entries, key=lambda e: e.path)))


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "blobs")


_steps = st.lists(st.sampled_from(["a", "b", "ü", "%FF", "%0A"]), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(_steps.map("/".join), st.tuples(st.binary(max_size=9), st.booleans()), max_size=6))
def test_materialised_folder_scans_to_the_same_manifest(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, tuple[bytes, bool]]
) -> None:
    folders = {p[:i] for p in files for i, c in enumerate(p) if c == "/"}
    root = tmp_path_factory.mktemp("lay")
    kept = Kept(root / "blobs")
    entries = [kept.file(p, data, executable=x) for p, (data, x) in files.items() if p not in folders]
    entries += [Entry(path=f, kind=EntryKind.FOLDER) for f in folders]
    wanted = manifest(*entries)
    for n, share in enumerate((True, False)):
        materialise(wanted, kept.path, root / str(n), share=share)
        assert scan(root / str(n), HashSink()).manifest == wanted


def test_shared_files_are_blobs_and_executables_are_copies(tmp_path: Path, kept: Kept) -> None:
    wanted = manifest(kept.file("data", b"d"), kept.file("run", b"r", executable=True))
    materialise(wanted, kept.path, tmp_path / "t", share=True)
    data, run = tmp_path / "t" / "data", tmp_path / "t" / "run"
    assert data.samefile(kept.path(digest_bytes(b"d")))
    assert not run.samefile(kept.path(digest_bytes(b"r")))
    assert [stat.S_IMODE(p.stat().st_mode) for p in (data, run)] == [0o444, 0o555]
    assert stat.S_IMODE(kept.path(digest_bytes(b"r")).stat().st_mode) == 0o444


def test_writable_trees_are_copies(tmp_path: Path, kept: Kept) -> None:
    materialise(manifest(kept.file("data", b"d")), kept.path, tmp_path / "t", writable=True)
    (tmp_path / "t" / "data").write_bytes(b"changed")
    assert kept.path(digest_bytes(b"d")).read_bytes() == b"d"
    with pytest.raises(ValueError, match="cannot be writable"):
        materialise(manifest(), kept.path, tmp_path / "t", share=True, writable=True)


def test_overlay_replaces_files_and_follows_no_link(tmp_path: Path, kept: Kept) -> None:
    outside = tmp_path / "outside"
    outside.write_text("stays")
    target = tmp_path / "t"
    target.mkdir()
    (target / "a").symlink_to(outside)
    (target / "old").write_text("old")
    materialise(manifest(kept.file("a", b"1"), kept.file("old", b"2")), kept.path, target)
    assert ((target / "a").read_bytes(), (target / "old").read_bytes()) == (b"1", b"2")
    assert outside.read_text() == "stays"
    (target / "d").symlink_to(tmp_path)
    with pytest.raises(CaptureError, match="cannot be created"):
        materialise(manifest(kept.file("d/escaped", b"x")), kept.path, target)
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize(
    "entries",
    [["a", "a/b"], ["x" * 256], ["d/" + "x" * 300]],
)
def test_impossible_paths_are_refused(tmp_path: Path, kept: Kept, entries: list[str]) -> None:
    with pytest.raises(CaptureError, match="cannot be created"):
        materialise(manifest(*(kept.file(p, b"x") for p in entries)), kept.path, tmp_path / "t")


def test_uncaptured_entries_are_left_out(tmp_path: Path, kept: Kept) -> None:
    pipe, unread = Entry(path="pipe", kind=EntryKind.OTHER), Entry(path="big", size=9, note="too large")
    materialise(manifest(pipe, unread, kept.file("ok", b"x")), kept.path, tmp_path / "t")
    assert [p.name for p in (tmp_path / "t").iterdir()] == ["ok"]


def link(path: str, target: str) -> Entry:
    return Entry(path=path, kind=EntryKind.LINK, target=quote_path(target.encode()))


def test_links_are_made_only_on_request_and_only_inside(tmp_path: Path, kept: Kept) -> None:
    wanted = manifest(
        kept.file("d/file", b"x"),
        link("good", "d/file"),
        link("d/up", "../good"),
        link("absolute", "/etc/passwd"),
        link("out", "../outside"),
        link("d/out", "../../outside"),
        link("through", "d/up/../../outside"),
    )
    materialise(wanted, kept.path, tmp_path / "none")
    assert [p.name for p in (tmp_path / "none").iterdir()] == ["d"]
    materialise(wanted, kept.path, tmp_path / "some", links=True)
    assert {p.name for p in (tmp_path / "some").iterdir()} == {"d", "good"}
    assert (tmp_path / "some" / "d" / "up").read_bytes() == b"x"


_parts = st.lists(st.sampled_from(["..", ".", "a", "b", ""]), min_size=1, max_size=5).map("/".join)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["l", "m", "d/n", "d/e/o"]), _parts, min_size=1), st.booleans())
def test_no_set_of_links_leads_outside(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, str], absolute: bool
) -> None:
    top = tmp_path_factory.mktemp("links")
    kept = Kept(top / "blobs")
    root = top / "x" / "root"
    texts = {p: ("/" if absolute else "") + t for p, t in links.items()}
    entries = [kept.file("d/e/a", b"x"), kept.file("b", b"y"), *(link(p, t) for p, t in texts.items() if t)]
    materialise(manifest(*entries), kept.path, root, links=True)
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            reached = os.path.realpath(Path(folder) / name)
            assert reached == str(root) or reached.startswith(f"{root}/")


def test_relative_folder_takes_what_it_can() -> None:
    assert stays_inside(b"a/b/l", b"../../c")
    assert not stays_inside(b"a/b/l", b"../../../c")
    assert not stays_inside(b"l", b"")
    assert not stays_inside(b"l", b"a\0b")

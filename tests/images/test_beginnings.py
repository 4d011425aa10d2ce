"""What Dockerfiles begin with alike is built once, by itself, and nobody can change it under another."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from images import machine
from worksample.errors import ImageError
from worksample.images import ImageLimits, beginnings, prepare
from worksample.images.beginnings import split
from worksample.images.building import build

ALIKE = """FROM debian:12
ENV COLOUR="green"
RUN cat /proc/sys/kernel/random/uuid > /drawn
"""


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("FROM a\nRUN one\nRUN two\nCOPY x /\nRUN three\n", ["RUN one", "RUN two"]),
        ("# a note\nFROM a\n\nRUN one && \\\n  # within\n  more\nWORKDIR /srv\n", ["more"]),
        ("FROM a\nCOPY x /\nRUN one\n", []),
        ("FROM a\nARG x\nRUN one\n", []),
        ("FROM a\nRUN one\nARG x\nRUN $x\n", ["RUN one"]),
        ('FROM a\nSHELL ["bash", "-c"]\nRUN one\n', []),
        ("FROM a\nRUN --mount=type=bind,target=/x cat /x/f\n", []),
        ("FROM a\nRUN cat <<END\nRUN two\nEND\n", []),
        ("FROM a AS b\nRUN one\n", []),
        ("FROM a\nRUN one\nFROM c\nRUN two\n", []),
        ("FROM a\nRUN one\nCOPY --from=other:1 /x /\n", []),
        ("ARG v\nFROM a:$v\nRUN one\n", []),
        ("# escape=`\nFROM a\nRUN one\n", []),
        ("RUN one\n", []),
        ("", []),
    ],
)
def test_a_beginning_depends_on_nothing_beside_the_file(text: str, ends: list[str]) -> None:
    found = split(text)
    assert [begun.rstrip().splitlines()[-1].strip() for begun, _ in found] == ends
    assert all(begun + rest == text for begun, rest in found)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tar = machine.tarred(machine.make(tmp_path / "root"))
    (tmp_path / "base.tar").write_bytes(tar)
    (tmp_path / "builds.toml").write_text(f'hosts = []\n[bases]\n"debian:12" = "{tmp_path}/base.tar"\n')
    monkeypatch.setenv("WORKSAMPLE_BUILDS", str(tmp_path / "builds.toml"))
    yield tmp_path
    shutil.rmtree(beginnings._folder())


def context(folder: Path, name: str, rest: str, begins: str = ALIKE) -> Path:
    made = folder / name
    made.mkdir()
    (made / "note").write_text(name)
    (made / "Dockerfile").write_text(begins + rest)
    return made


@pytest.mark.box
@pytest.mark.buildah
def test_what_was_met_before_is_built_once_and_kept(folder: Path) -> None:
    rest = 'COPY note /note\nRUN cat /note > /copied && echo " $COLOUR" >> /copied\n'
    roots = [Path(prepare(context(folder, name, rest)).root.folder) for name in ("one", "two", "three")]
    assert [(root / "copied").read_text().split() for root in roots] == [
        ["one", "green"],
        ["two", "green"],
        ["three", "green"],
    ]
    drawn = [(root / "drawn").read_text() for root in roots]
    assert drawn[0] != drawn[1] == drawn[2]  # the first one was alone: its beginning was not kept
    assert (roots[1] / "drawn").stat().st_ino == (roots[2] / "drawn").stat().st_ino
    with pytest.raises(ImageError, match="more than"):  # what is shared counts as what is read
        build(context(folder, "small", rest), ImageLimits(bytes=1000))


@pytest.mark.box
@pytest.mark.buildah
def test_no_build_changes_what_another_begins_with(folder: Path) -> None:
    for name in ("one", "two"):
        prepare(context(folder, name, "COPY note /note\n"))
    drawn = "RUN echo mine > /drawn; rm -f /etc/passwd; chmod 777 /usr; for p in /begun /build /proc/1/root/begun"
    prepare(
        context(
            folder,
            "bad",
            f"COPY note /note\n{drawn}; do find $p -type f -exec sh -c 'echo mine > $1' . {{}} ';'; done; true\n",
        )
    )
    root = Path(prepare(context(folder, "after", "COPY note /note\n")).root.folder)
    kept = Path(prepare(folder / "two").root.folder)
    assert (root / "drawn").read_text() == (kept / "drawn").read_text() != "mine\n"
    assert (root / "etc" / "passwd").read_text() == (kept / "etc" / "passwd").read_text()
    assert (root / "usr").stat().st_mode & 0o777 != 0o777


@pytest.mark.box
@pytest.mark.buildah
def test_another_base_or_variable_is_another_beginning_and_a_lost_one_is_made_anew(folder: Path) -> None:
    for name in ("one", "two"):
        root = Path(prepare(context(folder, name, "COPY note /note\n")).root.folder)
    drawn = (root / "drawn").read_text()
    settings = (folder / "builds.toml").read_text()
    (folder / "builds.toml").write_text(settings + "[env]\nMIRROR = 'x'\n")
    assert (Path(prepare(context(folder, "other", "COPY note /\n")).root.folder) / "drawn").read_text() != drawn
    (folder / "builds.toml").write_text(settings)
    (store,) = beginnings._folder().glob("*/store")
    store.rename(folder / "gone")
    found = Path(prepare(context(folder, "three", "COPY note /note\n")).root.folder)
    assert (found / "drawn").read_text() != drawn
    again = Path(prepare(context(folder, "four", "COPY note /note\n")).root.folder)
    assert (again / "drawn").read_text() == (found / "drawn").read_text()


@pytest.mark.box
@pytest.mark.buildah
def test_a_beginning_that_fails_says_why_and_leaves_nothing(folder: Path) -> None:
    begins = "FROM debian:12\nRUN echo this is why; exit 3\n"
    for name in ("one", "two", "three"):
        with pytest.raises(ImageError, match="this is why"):
            prepare(context(folder, name, "COPY note /note\n", begins))
    assert not [path for path in beginnings._folder().iterdir() if path.is_dir()]

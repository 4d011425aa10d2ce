"""Common prefixes of Dockerfiles are built once, in a separate sandbox, and cannot be changed by builds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.images import machine
from worksample.box import Root
from worksample.errors import ImageError, UsageError
from worksample.sandboxes.images import ImageLimits, dockerfile_prefixes, prepare_image
from worksample.sandboxes.images.dockerfile_build import build
from worksample.sandboxes.images.dockerfile_prefixes import split_prefixes
from worksample.sandboxes.images.image_cache import remove_cached

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
        ("FROM a\nCOPY --chmod=755 --from=other:1 /x /y /bin/\nRUN one\nCOPY x /\n", ["RUN one"]),
        ("FROM a\nRUN one\nCOPY --from=other:1 /x /\nRUN two\n", ["RUN two"]),
        ("FROM a\nCOPY --from=0 /x /\nRUN one\n", []),
        ("FROM a\nCOPY --from=$x /x /\nRUN one\n", []),
        ("ARG v\nFROM a:$v\nRUN one\n", []),
        ("# escape=`\nFROM a\nRUN one\n", []),
        ("RUN one\n", []),
        ("", []),
    ],
)
def test_prefix_depends_on_no_file_beside_the_dockerfile(text: str, ends: list[str]) -> None:
    found = split_prefixes(text)
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
    shutil.rmtree(dockerfile_prefixes._folder())


def at(root: Root, name: str) -> Path:
    """Where a file of an image lies."""
    return next(path for one in (*root.over, root.folder) if (path := Path(one) / name).exists())


def context(folder: Path, name: str, rest: str, begins: str = ALIKE) -> Path:
    made = folder / name
    made.mkdir()
    (made / "note").write_text(name)
    (made / "Dockerfile").write_text(begins + rest)
    return made


@pytest.mark.box
@pytest.mark.buildah
def test_prefix_seen_before_is_built_once_and_kept(folder: Path) -> None:
    rest = 'COPY note /note\nRUN cat /note > /copied && echo " $COLOUR" >> /copied\n'
    roots = [prepare_image(context(folder, name, rest)).root for name in ("one", "two", "three")]
    assert [at(root, "copied").read_text().split() for root in roots] == [
        ["one", "green"],
        ["two", "green"],
        ["three", "green"],
    ]
    drawn = [at(root, "drawn").read_text() for root in roots]
    assert drawn[0] != drawn[1] == drawn[2]  # the first one was alone: its beginning was not kept
    assert roots[1].over and at(roots[1], "drawn") == at(roots[2], "drawn")
    with pytest.raises(UsageError, match="2 images are built on"):
        remove_cached(Path(roots[1].folder).parent.name)
    for root in roots[1:]:
        remove_cached(Path(root.over[0]).parent.name)
    assert at(roots[1], "drawn").exists() and not Path(roots[1].over[0]).exists()
    with pytest.raises(ImageError, match="more than"):  # what is shared counts as what is read
        build(context(folder, "small", rest), ImageLimits(bytes=1000))


@pytest.mark.thorough(
    quick="sandboxes/images/test_dockerfile_prefixes.py::test_prefix_seen_before_is_built_once_and_kept"
)
@pytest.mark.box
@pytest.mark.buildah
def test_copy_from_another_image_is_part_of_a_prefix(folder: Path) -> None:
    begins = ALIKE.replace("RUN", "COPY --from=tools:1 /etc/passwd /copied\nRUN", 1)
    settings = (folder / "builds.toml").read_text()
    (folder / "builds.toml").write_text(settings + f'"tools:1" = "{folder}/base.tar"\n')
    roots = [prepare_image(context(folder, name, "COPY note /note\n", begins)).root for name in ("one", "two", "three")]
    assert at(roots[2], "drawn") == at(roots[1], "drawn") and at(roots[2], "copied").read_text().startswith("root:")
    tools = folder / "tools.tar"
    shutil.copy(folder / "base.tar", tools)
    with tools.open("ab") as file:
        file.write(bytes(512))
    (folder / "builds.toml").write_text(settings + f'"tools:1" = "{tools}"\n')
    other = prepare_image(context(folder, "four", "COPY note /note\n", begins)).root
    assert at(other, "drawn").read_text() != at(roots[2], "drawn").read_text()


@pytest.mark.thorough(
    quick="sandboxes/images/test_dockerfile_prefixes.py::test_prefix_seen_before_is_built_once_and_kept"
)
@pytest.mark.box
@pytest.mark.buildah
def test_longer_prefix_is_built_once_many_works_have_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dockerfile_prefixes, "MANY", 3)
    for name in ("one", "two"):
        prepare_image(context(folder, name, "COPY note /note\n"))
    longer = ALIKE + "RUN cat /proc/sys/kernel/random/uuid > /further\n"
    roots = [prepare_image(context(folder, f"more{number}", "COPY note /note\n", longer)).root for number in range(4)]
    further = [at(root, "further").read_text() for root in roots]
    assert len(set(further)) == 3 and further[2] == further[3]
    assert len({at(root, "drawn").read_text() for root in roots[:2]}) == 1
    failing = context(folder, "again", "RUN false\n", "FROM debian:12\nRUN echo of its own\n")
    for _ in range(3):  # the same work again is no second one
        with pytest.raises(ImageError):
            prepare_image(failing)
    assert len(list(dockerfile_prefixes._folder().glob("*/told.json"))) == 2


@pytest.mark.box
@pytest.mark.buildah
def test_no_build_changes_a_shared_prefix(folder: Path) -> None:
    for name in ("one", "two"):
        prepare_image(context(folder, name, "COPY note /note\n"))
    drawn = "RUN echo mine > /drawn; rm -f /etc/passwd; chmod 777 /usr; for p in /begun /build /proc/1/root/begun"
    prepare_image(
        context(
            folder,
            "bad",
            f"COPY note /note\n{drawn}; do find $p -type f -exec sh -c 'echo mine > $1' . {{}} ';'; done; true\n",
        )
    )
    root = prepare_image(context(folder, "after", "COPY note /note\n")).root
    kept = prepare_image(folder / "two").root
    assert at(root, "drawn").read_text() == at(kept, "drawn").read_text() != "mine\n"
    assert at(root, "etc/passwd").read_text() == at(kept, "etc/passwd").read_text()
    assert at(root, "usr").stat().st_mode & 0o777 != 0o777


@pytest.mark.thorough(
    quick="sandboxes/images/test_dockerfile_prefixes.py::test_prefix_seen_before_is_built_once_and_kept"
)
@pytest.mark.box
@pytest.mark.buildah
def test_other_base_or_variable_is_another_prefix_and_a_lost_one_is_rebuilt(folder: Path) -> None:
    for name in ("one", "two"):
        root = prepare_image(context(folder, name, "COPY note /note\n")).root
    drawn = at(root, "drawn").read_text()
    settings = (folder / "builds.toml").read_text()
    (folder / "builds.toml").write_text(settings + "[env]\nMIRROR = 'x'\n")
    assert at(prepare_image(context(folder, "other", "COPY note /\n")).root, "drawn").read_text() != drawn
    (folder / "builds.toml").write_text(settings)
    (store,) = dockerfile_prefixes._folder().glob("*/store")
    store.rename(folder / "gone")
    found = prepare_image(context(folder, "three", "COPY note /note\n")).root
    assert at(found, "drawn").read_text() != drawn
    again = prepare_image(context(folder, "four", "COPY note /note\n")).root
    assert at(again, "drawn").read_text() == at(found, "drawn").read_text()


@pytest.mark.box
@pytest.mark.buildah
def test_failed_prefix_says_why_and_leaves_nothing(folder: Path) -> None:
    begins = "FROM debian:12\nRUN echo this is why; exit 3\n"
    for name in ("one", "two", "three"):
        with pytest.raises(ImageError, match="this is why"):
            prepare_image(context(folder, name, "COPY note /note\n", begins))
    assert not [path for path in dockerfile_prefixes._folder().iterdir() if path.is_dir()]

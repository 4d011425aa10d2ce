"""Images built from a Dockerfile without a daemon; builds cannot reach the platform."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.images import machine
from worksample.box import BoxConfig
from worksample.errors import ImageError
from worksample.files.machine import machine_id
from worksample.sandboxes import open_box
from worksample.sandboxes.host_state import BUILD_ROOT
from worksample.sandboxes.images import ImageLimits, prepare_image
from worksample.sandboxes.images.build_box import BuildLimits, build_folder
from worksample.sandboxes.images.dockerfile_build import build
from worksample.sandboxes.images.image_cache import images_folder

pytestmark = [pytest.mark.box, pytest.mark.buildah]

DOCKERFILE = """FROM scratch AS base
ADD root.tar /
FROM base
ENV COLOUR="green"
RUN id -u > /who && chown 1234:1234 /who && ln -s / /srv/top
COPY notes /notes
WORKDIR /srv/work
USER app
RUN id -u > /tmp/who; ! touch /notes/no
"""
REACHING = """FROM scratch
ADD root.tar /
RUN cat {secret} /etc/shadow /build/../root/.bashrc > /found 2>&1; ls / /build /var/tmp >> /found 2>&1; true
RUN python3 -c "import socket; socket.create_connection(('127.0.0.1', {port}), 2)" >> /found 2>&1; true
RUN mount -t tmpfs none /mnt >> /found 2>&1; mknod /disk b 254 0 >> /found 2>&1; kill -9 {pid} >> /found 2>&1; true
"""


@pytest.fixture(scope="module")
def tar(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return machine.tarred(machine.make(tmp_path_factory.mktemp("machine") / "root"))


@pytest.fixture
def context(tmp_path: Path, tar: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    folder = tmp_path / "context"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "one.txt").write_text("one")
    (folder / "root.tar").write_bytes(tar)
    yield folder
    assert not list(BUILD_ROOT.glob(f"worksample-build-{os.getpid()}-*"))


async def test_dockerfile_becomes_the_root_of_a_box(context: Path) -> None:
    (context / "Dockerfile").write_text(DOCKERFILE)
    image = prepare_image(context)
    assert (image.root.user, image.root.workdir, image.root.home) == (1234, "/srv/work", "/home/app")
    async with open_box(BoxConfig(root=image.root, python="none")) as box:
        done = await box.run(["sh", "-c", "cat /who /notes/one.txt; echo $COLOUR; pwd; id -un; readlink /srv/top"])
        assert done.stdout == b"0\nonegreen\n/srv/work\napp\n/\n"
    assert prepare_image(context) == image  # from the cache, which no build is needed for


def test_build_reaches_neither_host_nor_network(context: Path, tmp_path: Path) -> None:
    import socket

    (tmp_path / "secret").write_text("the host's secret")
    victim = subprocess.Popen(["sleep", "1000"])
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            text = REACHING.format(secret=tmp_path / "secret", port=server.getsockname()[1], pid=victim.pid)
            (context / "Dockerfile").write_text(text)
            image = prepare_image(context)
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.accept()
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
    root = Path(image.root.folder)
    found = (root / "found").read_text()
    assert "the host's secret" not in found and "root:" not in found
    assert "Connection refused" in found or "unreachable" in found
    assert not (root / "disk").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("FROM debian:bookworm\n", "digest is missing"),
        ("FROM scratch\nADD root.tar /\nRUN echo this is why; exit 3\n", "this is why"),
        ("FROM scratch\nNONSENSE\n", "the build failed"),
        ("FROM scratch\nCOPY ../../etc/shadow /\n", "the build failed"),
    ],
)
def test_failed_build_says_why_and_leaves_nothing(text: str, says: str, context: Path) -> None:
    (context / "Dockerfile").write_text(text)
    with pytest.raises(ImageError, match=says):
        prepare_image(context)
    assert {path.name for path in images_folder().iterdir()} <= {"names"}


def test_build_is_limited_in_time(context: Path) -> None:
    (context / "Dockerfile").write_text("FROM scratch\nADD root.tar /\nRUN sleep 1000\n")
    with pytest.raises(ImageError, match="did not end within 3 s"):
        build(context, ImageLimits(), BuildLimits(time=3))


def test_leftovers_of_killed_builds_are_removed_by_the_next(context: Path) -> None:
    space = Path("/proc/self/ns/pid").stat().st_ino
    # Of another process with our number.
    left = BUILD_ROOT / f"worksample-build-{os.getpid()}-1-{space}-{machine_id()}-00000000"
    left.mkdir()
    with build_folder() as folder:
        assert folder.is_dir() and not left.exists()
    assert not folder.exists()


BUILDS = "import sys; from worksample.sandboxes.images import prepare_image; print(prepare_image(sys.argv[1]).digest)"


def building(context: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", BUILDS, str(context)], stdout=subprocess.PIPE, text=True)


def running(mark: str) -> list[int]:
    """Processes of this machine whose command line has the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def test_two_concurrent_builds_give_one_image(context: Path) -> None:
    (context / "Dockerfile").write_text("FROM scratch\nADD root.tar /\nRUN sleep 2; date > /when\n")
    builds = [building(context) for _ in range(2)]
    said = {build.communicate()[0] for build in builds}
    assert [build.returncode for build in builds] == [0, 0]
    assert {prepare_image(context).digest} <= {one.strip() for one in said}
    assert not [path for path in images_folder().rglob("*.new") if path.exists()]


def test_build_killed_with_its_platform_leaves_nothing(context: Path) -> None:
    mark = f"worksample-test-{secrets.token_hex(8)}"
    (context / "Dockerfile").write_text(f"FROM scratch\nADD root.tar /\nRUN sleep 100000; : {mark}\n")
    build = building(context)
    until = time.monotonic() + 600
    while not running(f"sleep 100000; : {mark}"):
        assert build.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    place = next(BUILD_ROOT.glob(f"worksample-build-{build.pid}-*"))
    build.kill()
    build.communicate()
    while running(mark):
        assert time.monotonic() < until, "processes outlive the platform"
        time.sleep(0.05)
    assert str(place) not in Path("/proc/self/mounts").read_text()
    (context / "Dockerfile").write_text("FROM scratch\nADD root.tar /\n")
    assert prepare_image(context).digest
    assert not place.exists()
    assert not list(images_folder().glob(".*.new")) and len(list(images_folder().glob("[0-9a-f]*"))) == 1


ASKING = """import socket
for name in ("registry.example.com", "other.example.com", "127.0.0.1"):
    try:
        with socket.create_connection((name, {port}), 5) as one:
            print(name, one.makefile().readline().strip())
    except OSError as error:
        print(name, type(error).__name__)
"""


@contextlib.contextmanager
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A service of the host's loopback that greets, by the name of a host; its port."""
    import socket
    import threading

    def greet() -> None:
        with contextlib.suppress(OSError):
            while True:
                one, _ = server.accept()
                with one:
                    one.sendall(b"hello\n")

    real = socket.getaddrinfo
    inside = {"registry.example.com": "127.0.0.1", "other.example.com": "127.0.0.1"}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *a, **k: real(inside.get(host, host), *a, **k))
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)


def operators(context: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = context.parent / "builds.toml"
    path.write_text(text)
    monkeypatch.setenv("WORKSAMPLE_BUILDS", str(path))


def test_build_reaches_only_hosts_of_the_operator(
    context: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (context / "ask.py").write_text("")
    (tmp_path / "ca.crt").write_text("of the house")
    text = "FROM scratch\nADD root.tar /\nCOPY ask.py /\nRUN python3 /ask.py > /said; echo $CA; cat $CA > /seen\n"
    (context / "Dockerfile").write_text(text)
    with registry(monkeypatch) as port:
        (context / "ask.py").write_text(ASKING.format(port=port))
        settings = f'hosts = ["registry.example.com:{port}"]\nenv = {{ CA = "/run/ca.crt" }}\n'
        files = f'files = {{ "/run/ca.crt" = "{tmp_path}/ca.crt" }}\n'
        operators(context, monkeypatch, settings + files + 'networks = ["127.0.0.1/32"]\n')
        root = Path(prepare_image(context).root.folder)
    said = (root / "said").read_text().splitlines()
    assert said == ["registry.example.com hello", "other.example.com gaierror", "127.0.0.1 ConnectionRefusedError"]
    assert (root / "seen").read_text() == "of the house"  # what the image keeps of it is an empty file
    assert not (root / "run" / "ca.crt").exists() or not (root / "run" / "ca.crt").read_text()
    (kept,) = (images_folder() / "names").glob("build-*.json")
    (line,) = json.loads(kept.read_text())["connections"]
    assert line["rule"] == f"allow registry.example.com:{port}" and line["received"] == 6


def test_private_network_needs_the_operators_permission(context: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with registry(monkeypatch) as port:
        (context / "ask.py").write_text(ASKING.format(port=port))
        (context / "Dockerfile").write_text(
            "FROM scratch\nADD root.tar /\nCOPY ask.py /\nRUN python3 /ask.py; exit 1\n"
        )
        operators(context, monkeypatch, f'hosts = ["registry.example.com:{port}"]\n')
        with pytest.raises(ImageError, match=r"refused: registry.example.com: 127.0.0.1 is in 127.0.0.0/8"):
            prepare_image(context)


def test_substituted_base_is_reported(
    context: Path, tmp_path: Path, tar: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base.tar").write_bytes(tar)
    operators(context, monkeypatch, f'[bases]\n"debian:12" = "{tmp_path}/base.tar"\n"tool:1" = "{tmp_path}/base.tar"\n')
    (context / "Dockerfile").write_text("FROM debian:12 AS one\nCOPY --from=tool:1 /etc/note /copied\nRUN id -u\n")
    image = prepare_image(context)
    assert (Path(image.root.folder) / "copied").read_text() == "of the image\n"
    digest = hashlib.sha256(tar).hexdigest()
    assert dict(image.substituted) == {"debian:12": digest, "tool:1": digest}
    assert prepare_image(context) == image
    (tmp_path / "base.tar").write_bytes(tar + b"\0" * 1024)  # another base is another image
    assert prepare_image(context).substituted != image.substituted


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [("bases", "debian:12", "absent.tar"), ("bases", "debian:12", "."), ("files", "/etc/given", "absent")],
)
def test_missing_file_of_the_operator_names_the_correction(
    table: str, name: str, value: str, context: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (context / "Dockerfile").write_text(f"FROM {'debian:12' if table == 'bases' else 'scratch'}\nCOPY mine /\n")
    operators(context, monkeypatch, f'[{table}]\n"{name}" = "{tmp_path / value}"')
    with pytest.raises(ImageError, match="cannot be") as told:
        prepare_image(context)
    assert told.value.next.startswith(f"correct [{table}] in the file that WORKSAMPLE_BUILDS names")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hosts = 3", "hosts"),
        ('hosts = ["10.0.0.1"]', "not a host to allow"),
        ('networks = ["everything"]', "not a network"),
        ('files = { "relative" = "/etc/hosts" }', "relative"),
        ('[env]\n"A B" = "c"', "A B"),
        ("host = []", "hosts"),
        ("hosts = [", "TOML"),
    ],
)
def test_unusable_build_settings_are_refused(
    text: str, says: str, context: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (context / "Dockerfile").write_text("FROM scratch\nADD root.tar /\n")
    operators(context, monkeypatch, text)
    with pytest.raises(ImageError, match=says):
        prepare_image(context)

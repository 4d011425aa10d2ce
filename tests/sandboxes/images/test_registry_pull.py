"""References are pulled once by digest, and serve as bases of builds."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandboxes.images import machine
from sandboxes.images.image_fixtures import Entry, layer, layout
from worksample.errors import ImageError
from worksample.sandboxes.images import prepare_image

pytestmark = [pytest.mark.box, pytest.mark.buildah]


@dataclass
class Registry:
    """A registry that serves one layout under any name."""

    layout: Path
    address: str = ""
    asked: list[str] = field(default_factory=list)

    @property
    def reference(self) -> str:
        [manifest] = json.loads((self.layout / "index.json").read_text())["manifests"]
        return f"docker://{self.address}/some/image@{manifest['digest']}"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    served = Registry(tmp_path / "image")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            served.asked.append(self.path)
            file = served.layout / "blobs" / "sha256" / self.path.rpartition("sha256:")[2]
            data = file.read_bytes() if file.is_file() else b"{}"
            self.send_response(200 if file.is_file() or self.path == "/v2/" else 404)
            kind = "manifest" if "/manifests/" in self.path else "octet"
            self.send_header("Content-Type", f"application/vnd.oci.image.{kind}.v1+json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        served.address = f"127.0.0.1:{server.server_address[1]}"
        settings = tmp_path / ".config" / "containers" / "registries.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[[registry]]\nlocation = "{served.address}"\ninsecure = true\n')
        monkeypatch.setenv("HOME", str(tmp_path))
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


def test_reference_is_pulled_once(registry: Registry) -> None:
    layout(registry.layout, [layer(Entry("etc/note", b"pulled"))], {"User": "7"})
    found = prepare_image(registry.reference)
    assert (Path(found.root.folder) / "etc/note").read_text() == "pulled" and found.root.user == 7
    asked = len(registry.asked)
    assert asked and prepare_image(registry.reference) == found and len(registry.asked) == asked


def test_changed_content_of_the_registry_is_refused(registry: Registry) -> None:
    layout(registry.layout, [layer(Entry("etc/note", b"pulled"))], {})
    reference = registry.reference
    for blob in (registry.layout / "blobs" / "sha256").iterdir():
        blob.write_bytes(blob.read_bytes().replace(b"pulled", b"planted"))
    with pytest.raises(ImageError, match=r"cannot be pulled(?!.*TLS)"):
        prepare_image(reference)


def test_base_is_pulled_for_a_build(registry: Registry, tmp_path: Path) -> None:
    root = machine.tarred(machine.make(tmp_path / "machine"))
    layout(registry.layout, [root], {"Env": ["FROM_BASE=yes"]})
    (tmp_path / "context").mkdir()
    base = registry.reference.removeprefix("docker://")
    (tmp_path / "context" / "Dockerfile").write_text(f"FROM {base} AS first\nFROM first\nRUN cat /etc/note > /copied\n")
    found = prepare_image(tmp_path / "context")
    assert (Path(found.root.folder) / "copied").read_text() == "of the image\n"
    assert ("FROM_BASE", "yes") in found.root.env

"""Builds of images from a folder with a Dockerfile. The program buildah builds the image in a sandbox, without a
daemon.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from worksample.errors import ImageError
from worksample.sudo_command import root_command

from . import build_box
from .build_bases import digest_of_base, write_layout
from .build_box import BuildLimits
from .build_network import BuildNetwork
from .builder_settings import VARIABLE, BuildSettings, load_build_settings, settings_hint
from .dockerfile_prefixes import SharedPrefix, longest_prefix
from .image_cache import CachedImage, find_cached, image_scratch_folder, names_folder
from .image_limits import ImageLimits
from .image_unpacker import BaseImage, from_layout
from .oci import read_layout
from .registry_pull import PINNED, REFERENCE, fetch

FILES = ("Dockerfile", "Containerfile")
_FROM = re.compile(r"^(\s*FROM\s+(?:--platform=\S+\s+)?)(\S+)((?:\s+AS\s+(\S+))?\s*)$", re.IGNORECASE | re.MULTILINE)
_COPY = re.compile(r"^(\s*COPY\s+(?:--\S+\s+)*--from=)(\S+)", re.IGNORECASE | re.MULTILINE)
_VERSION = "2"
_SCRIPT = """
printf 'root:x:0:0::/build:/bin/sh\\n' > /etc/passwd
printf 'root:x:0:\\n' > /etc/group
cp /build/hosts /etc/hosts
touch /etc/resolv.conf
for driver in {drivers}; do
  o="$driver.ignore_chown_errors={one}{shared}"
  b="buildah --root /build/storage --runroot /build/run --storage-driver $driver --storage-opt $o"
  $b info > /dev/null 2>&1 && break
  rm -rf /build/storage /build/run
done
$b bud --isolation chroot --network host --pull-never --layers=false --format oci {given} -t built -f Dockerfile context
skopeo copy --quiet --insecure-policy --dest-oci-accept-uncompressed-layers \
  "containers-storage:[$driver@/build/storage+/build/run:$o]localhost/built" oci:/build/out:image
echo $driver > driver
chmod -R u+rwX /build/out
{after}
"""
_AWAY = """chmod -R u+rwX /build/storage
rm -rf /build/storage /build/run 2> /dev/null || true  # what is mounted still goes with the namespaces"""
_BEGUN = "/begun"
"""Path in the build of the storage that contains the shared prefix."""


@dataclass(frozen=True, slots=True)
class _BuildJob:
    """The settings of one image build, shared by all runs of buildah for this build."""

    settings: BuildSettings
    instead: Mapping[str, tuple[Path, str]]
    """Name of a base image -> the file that replaces the base image, and the digest of this file."""
    limits: ImageLimits
    may: BuildLimits
    network: BuildNetwork


def is_context(folder: Path) -> bool:
    """Return whether a folder contains a Dockerfile."""
    return any((folder / name).is_file() for name in FILES)


def build(folder: Path, limits: ImageLimits, may: BuildLimits | None = None) -> CachedImage:
    """Return the image that the Dockerfile of `folder` builds. If the image was built before, it comes from the cache.
    Raises ImageError.

    Every base image must be `scratch`, or be named with its digest (`NAME@sha256:...`), or be replaced by the
    operator's settings. `CachedImage.substituted` reports the replaced base images. The build's programs can reach the
    hosts in the operator's settings.
    """
    settings = load_build_settings()
    text = next(folder / one for one in FILES if (folder / one).is_file()).read_text(encoding="utf-8")
    instead = {name: (Path(path), digest_of_base(Path(path))) for name, path in _substitutes(text, settings).items()}
    digests = {name: digest for name, (_, digest) in instead.items()}
    whole = _context_digest(folder, digests)
    name = names_folder() / f"build-{whole}.json"
    known = _find_built(name)
    if known is not None:
        return known
    if shutil.which("buildah") is None or shutil.which("skopeo") is None:
        raise ImageError(
            "buildah or skopeo is not installed", where="image", next=root_command("apt-get install buildah skopeo")
        )
    job = _BuildJob(settings, instead, limits, may or BuildLimits(), BuildNetwork(settings))
    with longest_prefix(
        text, whole, digests, settings.env, lambda part, store: _run_build(job, None, part, store=store)
    ) as begun:
        found = _run_build(job, folder, text, begun).image
    told = {"digest": found.digest, "substituted": digests, "connections": job.network.ledger.plain()}
    with image_scratch_folder() as place:
        (place / name.name).write_text(json.dumps(told, indent=1), encoding="utf-8")
        (place / name.name).replace(name)
    return replace(found, substituted=tuple(sorted(digests.items())))


def _run_build(
    job: _BuildJob, folder: Path | None, text: str, begun: SharedPrefix | None = None, store: Path | None = None
) -> BaseImage:
    """Run buildah once in a sandbox and return the built image. If `store` is given, move buildah's storage there."""
    with build_box.build_folder() as work:
        if folder is None:
            (work / "context").mkdir()
        else:
            shutil.copytree(folder, work / "context", symlinks=True)
        given = _operator_options(job.settings, work)
        (work / "hosts").write_text(job.network.hosts, encoding="utf-8")
        if begun is None:
            text = _prepare_text(text, work, job.instead, job.settings.env)
        else:
            text = f"FROM localhost/built{_argument_lines(job.settings.env)}\n{begun.rest}"
            _write_placeholders(work / "out" / "blobs" / "sha256", begun.below.layers)
        (work / "Dockerfile").write_text(text, encoding="utf-8")
        build_box.give_to_build(work)
        script = _SCRIPT.format(
            drivers="overlay vfs" if begun is None else "overlay",
            one="false" if build_box.has_many_users() else "true",
            shared="" if begun is None else f",overlay.imagestore={_BEGUN}",
            given=given,
            after=_AWAY if store is None else "rm -rf /build/run",
        )
        shown = {} if begun is None else {_BEGUN: begun.store}
        status, said = build_box.run_build(script, work, job.may, job.network, shown)
        if status:
            raise ImageError(_failure_text(said, job.network), where="image", next=f"buildah bud {folder or 'FOLDER'}")
        found = from_layout(work / "out", job.limits, None if begun is None else begun.below)
        layers = read_layout(work / "out", job.limits).layers
        if store is not None and (work / "driver").read_text(encoding="ascii").strip() == "overlay":
            (work / "storage").rename(store)
        sizes = tuple((layer.diff, layer.path.stat().st_size) for layer in layers)
        return BaseImage(found, sizes, 0 if store is None else _count_entries(Path(found.root.folder)))


def _count_entries(root: Path) -> int:
    return sum(len(folders) + len(names) for _, folders, names in os.walk(root))


def _write_placeholders(blobs: Path, known: tuple[tuple[str, int], ...]) -> None:
    """Write empty files in place of layers that nobody reads or writes, because the layers are already unpacked in the
    cache.
    """
    blobs.mkdir(parents=True)
    for digest, size in known:
        with (blobs / digest.removeprefix("sha256:")).open("wb") as file:
            file.truncate(size)


def _find_built(name: Path) -> CachedImage | None:
    if not name.exists():
        return None
    told = json.loads(name.read_text(encoding="utf-8"))
    found = find_cached(told["digest"])
    return None if found is None else replace(found, substituted=tuple(sorted(told["substituted"].items())))


def _failure_text(said: str, network: BuildNetwork) -> str:
    """Return why a build failed. Refused hosts come first in the text, because they are often the cause."""
    refused = sorted({one.refused for one in network.ledger.contacts if one.refused})
    told = f" (refused: {'; '.join(refused)[:500]})" if refused else ""
    return f"the build failed{told}: {said.strip()[-2000:]}"


def _operator_options(settings: BuildSettings, work: Path) -> str:
    """Return buildah's options for the operator's files and variables. Raises ImageError."""
    words = [word for key, value in settings.env.items() for word in ("--build-arg", f"{key}={value}")]
    (work / "given").mkdir()
    for number, (place, source) in enumerate(settings.files.items()):
        try:
            shutil.copyfile(source, work / "given" / str(number))
        except OSError as error:
            raise ImageError(
                f"{source} cannot be copied for builds: {error.strerror}", where=VARIABLE, next=settings_hint("files")
            ) from None
        words += ["--volume", f"{build_box.PLACE}/given/{number}:{place}:ro"]
    return shlex.join(words)


def _bases(text: str) -> list[str]:
    """Return the names of the images that a Dockerfile begins from or copies from, each only once. Build stages and
    `scratch` are left out.
    """
    stages = {stage.lower() for *_, stage in _FROM.findall(text) if stage}
    named = [base for _, base, *_ in _FROM.findall(text)]
    named += [source for _, source in _COPY.findall(text) if not source.isdigit()]
    return [name for name in dict.fromkeys(named) if name != "scratch" and name.lower() not in stages]


def _substitutes(text: str, settings: BuildSettings) -> dict[str, str]:
    """Return base image -> substitute for the base images without a digest. Raises ImageError if the operator's
    settings name no substitute for such a base image.
    """
    loose = [name for name in _bases(text) if not PINNED.fullmatch(REFERENCE + name)]
    for name in loose:
        if name not in settings.bases:
            raise ImageError(
                f"FROM {name} does not name one image: its digest is missing",
                where="Dockerfile",
                next=f"name a substitute below [bases] of the file that {VARIABLE} names",
            )
    return {name: settings.bases[name] for name in loose}


def _prepare_text(text: str, work: Path, instead: Mapping[str, tuple[Path, str]], env: Mapping[str, str]) -> str:
    """Return the text of a Dockerfile in which every base image is replaced by a local OCI layout and the operator's
    variables are declared.
    """
    places = {}
    for name in _bases(text):
        layout = f"base-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
        if name in instead:
            write_layout(instead[name][0], work / layout, instead[name][1])
        else:
            fetch(REFERENCE + name, str(work / layout))
        places[name] = layout
    declared = _argument_lines(env)

    def replace_base(found: re.Match[str]) -> str:
        layout = places.get(found[2])
        given = f"oci:{build_box.PLACE}/{layout}:image" if layout else found[2]
        return f"{found[1]}{given}{found[3].rstrip()}{declared}\n"

    copied = {name for _, name in _COPY.findall(text)} & set(places)
    stages = [f"FROM oci:{build_box.PLACE}/{places[name]}:image AS {places[name]}\n" for name in sorted(copied)]
    body = _COPY.sub(lambda found: found[1] + (places.get(found[2]) or found[2]), _FROM.sub(replace_base, text))
    return _after_arguments(body, "".join(stages))


def _argument_lines(env: Mapping[str, str]) -> str:
    return "".join(f"\nARG {key}" for key in env)


def _after_arguments(text: str, stages: str) -> str:
    """Insert build stages into a Dockerfile, after its global arguments and before its first stage."""
    first = _FROM.search(text)
    return text if first is None else text[: first.start()] + stages + text[first.start() :]


def _context_digest(folder: Path, instead: Mapping[str, str]) -> str:
    """Return a digest of all files on which a build depends."""
    whole = hashlib.sha256(f"{_VERSION}{json.dumps(instead, sort_keys=True)}".encode())
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        whole.update(f"{path.relative_to(folder)}\0{kind}\0{state.st_mode & 0o100}\0".encode(errors="surrogateescape"))
        if kind == "link":
            whole.update(str(path.readlink()).encode(errors="surrogateescape"))
        elif kind == "file":
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()

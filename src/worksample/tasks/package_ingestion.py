"""Ingestion of a task package: its folder is scanned once, stored, and described by four digests for each instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from worksample.errors import CaptureError, ManifestError
from worksample.files import Sink, scan
from worksample.records import (
    Capture,
    CaptureStatus,
    Entry,
    Environment,
    Grading,
    ImageSource,
    Instance,
    Manifest,
    Protocol,
    SourceFiles,
    Task,
    TaskWork,
    canonical,
    now,
    quote_path,
)

from .package_files import is_grader_file, is_ignored, place_of, shared_folder
from .package_spec import InstanceSpec, Package


@dataclass(frozen=True, slots=True)
class Ingested:
    """The records of a package. They are committed to the store together."""

    task: Task
    instances: tuple[Instance, ...]


def package_manifest(package: Package, sink: Sink) -> Manifest:
    """Store all files of a package in the sink and return their manifest. A company's folder that the suite shares is
    included.

    Raises CaptureError if a file cannot be read or a limit is exceeded.
    """
    found = scan(package.root, sink)
    if found.status is not CaptureStatus.COMPLETE:
        raise CaptureError(found.reason, where=str(package.root), next=f"worksample task check {package.root}")
    own = [e for e in found.manifest.entries if not is_ignored(e.path)]
    return _sorted_manifest(
        [*own, *(e for name in _shared_companies(package) for e in _scan_shared(package, name, sink))]
    )


def _shared_companies(package: Package) -> list[str]:
    """Return the folders of companies that lie outside the package, in its suite, as relative names that begin with
    `../`.
    """
    named = (i.environment.workplace.company.name for i in package.instances if i.environment.workplace is not None)
    return sorted({name for name in named if name.startswith("../")})


def _scan_shared(package: Package, name: str, sink: Sink) -> list[Entry]:
    """Store the files of a shared folder and return their entries, with the paths that they have in the package's
    manifest.
    """
    root = shared_folder(package.root, name)
    found = scan(root, sink)
    if found.status is not CaptureStatus.COMPLETE:
        raise CaptureError(found.reason, where=str(root), next=f"worksample workplace check {root}")
    place = quote_path(place_of(name).encode())
    return [e.replaced(path=f"{place}/{e.path}") for e in found.manifest.entries if not is_ignored(e.path)]


def ingest(package: Package, sink: Sink, *, kit: str = "") -> Ingested:
    """Store the files and manifests of a package in `sink`, and return the package's records.

    The ids depend only on the content of the package and on `kit`, and not on the place of the folder. kit: the version
    of `worksample.kit` for which the grader was written; it is part of the grading digest.
    """
    whole = package_manifest(package, sink)
    if not whole.files:
        raise ManifestError("the package is empty", where=str(package.root), next="worksample task new FOLDER")
    digest = _keep(whole, sink)
    instances = tuple(_instance(package, spec, whole, sink, kit) for spec in package.instances)
    task = Task(
        id=f"{package.id}@{digest[:16]}",
        name=package.id,
        title=package.title,
        version=package.version,
        canary=package.canary,
        package=digest,
        instances=tuple(i.id for i in instances),
        ingested=now(),
    )
    return Ingested(task, instances)


def _keep(manifest: Manifest, sink: Sink) -> str:
    return sink.put(canonical(manifest.plain()))


def below(whole: Manifest, folder: str) -> Manifest:
    """Return the part of a manifest below a folder, with paths relative to this folder. Return an empty manifest if
    there is no such folder.
    """
    prefix = quote_path(folder.encode()) + "/"
    inner = (e for e in whole.entries if e.path.startswith(prefix))
    return _sorted_manifest([e.replaced(path=e.path[len(prefix) :]) for e in inner])


def _filter_manifest(whole: Manifest, keep: Callable[[str], bool]) -> Manifest:
    return _sorted_manifest([e for e in whole.entries if keep(e.path)])


def _sorted_manifest(entries: list[Entry]) -> Manifest:
    return Manifest(entries=tuple(sorted(entries, key=lambda e: e.path)))


def _environment(spec: InstanceSpec, whole: Manifest, sink: Sink) -> Environment:
    """Return the environment with the digests of the package's images and folders, so that they become part of the work
    digest.
    """
    environment = spec.environment

    def files(source: SourceFiles | None) -> SourceFiles | None:
        return source and source.replaced(files=_keep(below(whole, place_of(source.name)), sink))

    workplace = environment.workplace
    return environment.replaced(
        image=_image(environment.image, whole, sink),
        steps=tuple(one.replaced(files=files(one.files)) for one in environment.steps),
        start=environment.start
        and environment.start.replaced(files=_file_manifest(environment.start.entry, whole, sink)),
        served=tuple(
            one.replaced(
                image=_image(one.image, whole, sink),
                files=files(one.files),
            )
            for one in environment.served
        ),
        workplace=workplace
        and workplace.replaced(
            company=files(workplace.company),
            setup=files(workplace.setup),
            live=files(workplace.live),
            silent=not below(whole, f"{place_of(workplace.company.name)}/colleagues").files,
        ),
    )


def _file_manifest(name: str, whole: Manifest, sink: Sink) -> str:
    """Store a manifest that contains one file of the package, and return its digest."""
    path = quote_path(name.encode())
    return _keep(_filter_manifest(whole, lambda one: one == path), sink)


def _image(image: ImageSource | None, whole: Manifest, sink: Sink) -> ImageSource | None:
    if image is None or "://" in image.name:
        return image
    path = quote_path(image.name.encode())
    own = [e.replaced(path=path.rpartition("/")[2]) for e in whole.files if e.path == path]
    return image.replaced(files=_keep(_sorted_manifest(own) if own else below(whole, image.name), sink))


def _instance(package: Package, spec: InstanceSpec, whole: Manifest, sink: Sink, kit: str) -> Instance:
    apart = frozenset(quote_path(p.encode()) for p in package.apart)
    grader = _keep(_filter_manifest(whole, lambda path: is_grader_file(path, apart)), sink)
    answers = below(whole, spec.reference)
    reference = _keep(answers, sink)
    seen = package.shown.of(answers)
    shown = None if seen is None or seen == answers else _keep(seen, sink)
    work = TaskWork(
        brief=spec.brief,
        inputs=_keep(below(whole, spec.inputs), sink),
        software=_keep(below(whole, "software"), sink),
        environment=_environment(spec, whole, sink),
        deliverables=spec.deliverables,
    )
    probes = _keep(below(whole, "probes"), sink)
    capture = Capture(
        probes=probes,
        probe_names=package.probes,
        exports=package.exports,
        root=package.root_captured,
        collect=package.collect,
    )
    gradings: dict[Protocol, Grading] = {
        protocol: Grading(
            protocol=protocol,
            criteria=package.criteria,
            reference=reference,
            grader=grader,
            entry=given.entry or "grade.py",
            settings=dict(given.settings),
            instance_settings=dict(spec.settings),
            notes=package.notes,
            kit=kit,
        )
        for protocol, given in package.gradings.items()
    }
    parts = {
        "work": work.plain(),
        "capture": capture.plain(),
        "grading": {p.value: g.plain() for p, g in gradings.items()},
        "about": package.about.plain(),
        **({} if shown is None else {"people": {"reference": shown}}),
    }
    return Instance(
        id=Instance.identify(package.id, spec.name, parts),
        task=package.id,
        name=spec.name,
        title=spec.title,
        version=package.version,
        canary=package.canary,
        work=work,
        capture=capture,
        grading=gradings,
        about=package.about,
        shown_reference=shown,
    )

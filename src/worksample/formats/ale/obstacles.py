"""Obstacles of an instance: what it needs and does not have here, each with a stable name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from worksample.box import BoxConfig
from worksample.errors import SandboxError

from .format import OBSTACLES
from .listing import AleInstance, AleListing

REQUIRED_PATHS = ("input", "output", "reference")


def obstacles_of(listing: AleListing, instance: AleInstance, data: Path | None) -> dict[str, str]:
    """Return obstacle -> details, in the order of OBSTACLES. data: the user's folder with the instances' files."""
    snapshot = listing.package.snapshot.split("-")
    found: dict[str, str] = {}
    if listing.fault:
        found["ale-load"] = listing.fault
    if instance.system != "linux":
        found["ale-system"] = instance.system or "not named"
    if "gpu" in snapshot:
        found["ale-gpu"] = ""
    if "license" in snapshot:
        found["ale-licence"] = ""
    if instance.system == "linux":
        if fault := path_fault(instance.paths):
            found["ale-paths"] = fault
        elif lacking := missing_data(listing, instance, data):
            found["ale-data"] = lacking
    return {name: found[name] for name in OBSTACLES if name in found}


def path_fault(paths: Mapping[str, str]) -> str:
    """Return why a box cannot have the folders that a package names; "" if it can."""
    absent = [name for name in REQUIRED_PATHS if name not in paths]
    if absent:
        return f"does not say where {', '.join(absent)} is"
    if len(set(paths.values())) < len(paths):
        return "gives two folders the same path"
    try:
        BoxConfig(output=paths["output"], writable=tuple(p for name, p in paths.items() if name != "output")).check()
    except SandboxError as fault:
        return fault.what
    return ""


def data_folder(listing: AleListing, instance: AleInstance, name: str, data: Path) -> Path | None:
    """Return the place of a folder (input, software, reference) below the user's data, or None if it has none.

    The data have the layout of the original's machines, from the domain's folder on: DOMAIN/TASK/VARIANT/input.
    """
    domain = instance.metadata.get("domain_name") or listing.package.domain
    _, found, rest = instance.paths.get(name, "").partition(f"/{domain}/")
    if not found or ".." in rest.split("/"):
        return None
    folder = data / str(domain) / rest
    return folder if folder.is_dir() and folder.resolve().is_relative_to(data.resolve()) else None


def missing_data(listing: AleListing, instance: AleInstance, data: Path | None) -> str:
    """Return which folders of an instance the user's data lack; "" if none.

    The software counts only if the description names its folder. A missing reference is no obstacle: what was to be
    compared with it stays ungraded.
    """
    if not instance.needs_data:
        return ""
    needed = ["input"]
    if (software := instance.paths.get("software")) and software in instance.description:
        needed.append("software")
    if data is None:
        return " and ".join(needed)
    return " and ".join(name for name in needed if data_folder(listing, instance, name, data) is None)

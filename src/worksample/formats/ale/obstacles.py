"""Obstacles of an instance: requirements that this platform does not meet, each with a stable name."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

from worksample.box import BoxConfig
from worksample.errors import SandboxError

from .checkout import AlePackage
from .listing import AleInstance, AleListing

OBSTACLES = {
    "ale-load": "a load() that ends, and gives the same instances twice",
    "ale-system": "an operating system other than Linux",
    "ale-gpu": "a machine with a GPU",
    "ale-licence": "software with a licence",
    "ale-python": "a newer Python for its evaluate()",
    "ale-paths": "folders that a sandbox can have",
    "ale-start": "preparations by its start()",
    "ale-software": "software of its own for each instance",
    "ale-data": "files that are not part of the checkout (--data)",
}
"""Obstacle -> the requirement of an instance that is not met here."""

REQUIRED_PATHS = ("input", "output", "reference")
_HARMLESS = ("_setup", "file_exists", "directory_exists", "exists", "create_dir", "list_dir", "getLogger")
"""Calls with a session that prepare nothing: a sandbox has the folders, and `_setup` only copies credentials."""


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
        if fault := newer_syntax(listing.package):
            found["ale-python"] = fault
        if fault := path_fault(instance.paths):
            found["ale-paths"] = fault
        elif lacking := missing_data(listing, instance, data):
            found["ale-data"] = lacking
        if prepares(listing.package):
            found["ale-start"] = ""
    return {name: found[name] for name in OBSTACLES if name in found}


def newer_syntax(package: AlePackage) -> str:
    """Return which file of a package the platform's Python cannot read; "" if none. Nothing is executed.

    The grader runs on the platform's Python. A package that is written for a newer one would be graded by nobody.
    """
    for path in sorted(package.folder.rglob("*.py")):
        if path.is_symlink():
            continue
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError) as fault:
            where = f"{path.relative_to(package.folder).as_posix()}, line {getattr(fault, 'lineno', None) or 1}"
            return f"{where}; this is Python {'.'.join(map(str, sys.version_info[:2]))}"
        except OSError as fault:
            return f"{path.name} cannot be read: {fault.strerror}"
    return ""


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


def prepares(package: AlePackage) -> bool:
    """Return whether `start` does anything with its session that no sandbox has done already. Nothing is executed."""
    try:
        tree = ast.parse((package.folder / "main.py").read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return True
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == "start"]
    if not found or len(found[0].args.args) < 2:
        return True
    bases = [base for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases]
    if any(isinstance(base, ast.Name) and base.id == "BaseTaskSetup" for base in bases):
        return True  # a setup of its own
    session = found[0].args.args[1].arg
    calls = [node for part in found[0].body for node in ast.walk(part) if isinstance(node, ast.Call)]
    using = [call for call in calls if any(isinstance(n, ast.Name) and n.id == session for n in ast.walk(call))]
    return not {_called_name(call) for call in using} <= set(_HARMLESS)


def _called_name(call: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""

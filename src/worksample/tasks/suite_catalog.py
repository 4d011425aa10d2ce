"""Where suites are found: shipped ones by name, others by path."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from worksample.errors import ManifestError
from worksample.files.config_files import nearest, shown

from .suite import read_suite
from .suite_lock import write_lock


def shipped_suites() -> tuple[str, ...]:
    """Names of the suites that ship with the package."""
    root = Path(str(resources.files("worksample"))) / "suites"
    return tuple(sorted(p.parent.name for p in root.glob("*/suite.toml")))


def find_suite(name: str) -> Path:
    """A shipped suite by name, or a path to a `suite.toml`, the folder around one, or the folder of a task.

    Gives the `suite.toml`, or the task's folder: what `read_suite` takes. ManifestError where there is none.
    """
    if name in shipped_suites():
        return Path(str(resources.files("worksample"))) / "suites" / name / "suite.toml"
    found = _at(Path(name))
    if found is not None:
        return found
    known = ", ".join(shipped_suites()) or "none"
    raise ManifestError(
        f"there is no suite {shown(name)} and no suite.toml or task.toml there{nearest(name, shipped_suites())}",
        where="suite",
        next=f"one of the shipped ones ({known}), or a path",
    )


def _at(path: Path) -> Path | None:
    try:
        if path.is_file() and path.suffix == ".toml":
            return path.parent if path.name == "task.toml" else path
        if (path / "suite.toml").is_file():
            return path / "suite.toml"
        return path if (path / "task.toml").is_file() else None
    except OSError:  # such as a name that is too long for any file
        return None


def pin_suite(path: Path) -> Path:
    """Write `suite.lock` beside a `suite.toml` (see `find_suite` for `path`) and return where it is.

    ManifestError for a faulty suite, or for a single task, which has nothing to pin.
    """
    suite = read_suite(path, verify=False)
    if suite.path.is_dir():
        raise ManifestError("a single task is not a suite and has no lock", where=str(path), next="write a suite.toml")
    return write_lock(suite.path.parent, suite.packages)

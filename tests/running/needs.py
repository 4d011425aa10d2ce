"""What tests need of the machine, by their markers: what lacks is a skip with its reason and the line to type."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

POSTGRES = Path("/usr/lib/postgresql")
SHELL, CHROMIUM = Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")


def browser() -> Path | None:
    """Chromium: in the quick profile without its windows, which takes half of the processor, else the one of people."""
    wanted = (SHELL, CHROMIUM) if settings.get_current_profile_name() == "quick" else (CHROMIUM, SHELL)
    return next((path for path in wanted if path.exists()), None)


def _box() -> str:
    from worksample.sandboxes import available

    found = available()
    return "" if found else f"{found.reason}: {found.next}"


def _browser() -> str:
    if browser() is None:
        return "Chromium is not installed: sudo apt-get install -y chromium-headless-shell"
    from worksample.app import AppConfig

    return "" if (Path(AppConfig().static) / "index.html").is_file() else "the pages are not built: ./dev web"


def _postgres() -> str:
    if not any(POSTGRES.glob("*/bin/initdb")):
        return "PostgreSQL is not installed: sudo apt-get install -y postgresql"
    return "" if importlib.util.find_spec("psycopg") else "psycopg is not installed: pip install 'worksample[postgres]'"


def _tac() -> str:
    if importlib.util.find_spec("inspect_evals"):
        return ""
    return "inspect_evals is not installed: pip install 'worksample[tac]'"


def _converters() -> str:
    from worksample.viewing.converter_requirements import NEEDS, missing

    lacking = missing(tuple(NEEDS))
    return f"{NEEDS[lacking[0]].title} is not installed: {NEEDS[lacking[0]].line}" if lacking else ""


def _buildah() -> str:
    lacking = [name for name in ("buildah", "skopeo") if shutil.which(name) is None]
    return f"{lacking[0]} is not installed: sudo apt-get install -y buildah skopeo" if lacking else ""


def _docker() -> str:
    if not importlib.util.find_spec("docker"):
        return "docker is not installed: pip install 'worksample[docker]'"
    from sandboxes.daemon import lacks

    return lacks()


def _node() -> str:
    if shutil.which("node") is None:
        return "Node is not installed: ./dev web"
    modules = Path(__file__).parents[2] / "web/node_modules"
    return "" if modules.is_dir() else "what web/ needs is not installed: ./dev web"


def _workplace() -> str:
    from worksample.workplace.service_programs import SERVICES, missing_programs_command

    line = missing_programs_command(SERVICES)
    return f"a workplace's services are not installed: {line}" if line else ""


def _desktop() -> str:
    from worksample.sandboxes.desktop import missing_desktop_command

    line = missing_desktop_command()
    return f"what a desktop needs is not installed: {line}" if line else ""


NEEDS: dict[str, Callable[[], str]] = {
    "box": functools.cache(_box),
    "browser": functools.cache(_browser),
    "desktop": functools.cache(_desktop),
    "postgres": functools.cache(_postgres),
    "tac": functools.cache(_tac),
    "converters": functools.cache(_converters),
    "buildah": functools.cache(_buildah),
    "docker": functools.cache(_docker),
    "node": functools.cache(_node),
    "workplace": functools.cache(_workplace),
}
"""Marker -> why it cannot be had here, or nothing."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before its fixtures are made."""
    for mark in item.iter_markers():
        if mark.name in NEEDS and (why := NEEDS[mark.name]()):
            pytest.skip(why)

"""Optional extras: find missing ones, and name the command that installs them from the source of this copy."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .errors import MissingExtra

EXTRAS = {
    "report": ("scipy", "matplotlib"),
    "review": ("argon2", "uvloop"),
    "mcp": ("mcp",),
    "models": ("openai", "anthropic"),
    "pii": ("presidio_analyzer", "faker"),
    "docker": ("docker",),
    "browser": ("playwright",),
    "desktop": ("Xlib", "jeepney"),
    "workplace": ("copyparty", "radicale"),
    "graders-drawing": ("ezdxf", "svgelements"),
    "graders-geo": ("rasterio", "shapely", "shapefile", "netCDF4"),
    "graders-media": ("av", "mido", "rapidfuzz"),
    "graders-medical": ("pydicom",),
    "graders-mesh": ("trimesh", "cascadio"),
    "clusters": ("scipy", "safetensors", "tokenizers", "httpx"),
}
"""Extra -> modules that only it brings."""
DISTRIBUTION = "worksample"


def lacks(extra: str) -> tuple[str, ...]:
    """Return the modules of an extra that are not installed."""
    return tuple(name for name in EXTRAS[extra] if find_spec(name) is None)


def need(*extras: str) -> None:
    """Raise MissingExtra if a module of these extras is not installed. The error names one command that installs all of
    them.
    """
    missing = {extra: absent for extra in extras if (absent := lacks(extra))}
    if not missing:
        return
    names = " and ".join(map(repr, missing))
    modules = ", ".join(dict.fromkeys(name for absent in missing.values() for name in absent))
    what = f"extra {names} of worksample is" if len(missing) == 1 else f"extras {names} of worksample are"
    raise MissingExtra(f"the {what} needed, but not installed ({modules})", next=install_command(*missing))


@dataclass(frozen=True, slots=True)
class InstallOrigin:
    """Origin of this copy of Worksample: how it was installed."""

    prefix: Path = Path(sys.prefix)
    """The environment's folder."""
    source: str = ""
    """What to install again: the path of a wheel or a clone, or an address such as `git+https://...`; "" for a package
    index.
    """
    editable: bool = False
    requirements: tuple[str, ...] = ()
    """The distribution's requirements, as in its metadata."""

    def command(self, *extras: str) -> str:
        """Return the command that adds these extras to this copy."""
        from shlex import quote

        spec = self._spec(extras)
        if self.is_temporary:
            return f"uvx --from {quote(self._spec(_present() | set(extras)))} worksample ..."
        if (self.prefix / "uv-receipt.toml").is_file():
            return f"uv tool install --force {quote(self._spec(_present() | set(extras)))}"
        if (self.prefix / "pipx_metadata.json").is_file():
            return f"pipx install --force {quote(self._spec(_present() | set(extras)))}"
        if self.source.startswith("/") and not Path(self.source).exists():
            # The wheel is gone, but what the extra needs is known.
            return f"{self.installer} {' '.join(quote(each) for each in self._requirements_of(extras))}"
        return f"{self.installer} {'-e ' if self.editable else ''}{quote(spec)}"

    def package_command(self, package: str, options: str = "") -> str:
        """Return the command that adds another package to this copy, such as the client of a model's provider.

        options: for pip, such as `--no-deps`.
        """
        from shlex import quote

        if self.is_temporary:
            return f"uvx --with {quote(package)} --from {quote(self._spec(_present()))} worksample ..."
        if (self.prefix / "uv-receipt.toml").is_file():
            return f"uv tool install --force --with {quote(package)} {quote(self._spec(_present()))}"
        if (self.prefix / "pipx_metadata.json").is_file():
            return f"pipx inject {DISTRIBUTION} {quote(package)}"
        return " ".join(word for word in (self.installer, options, quote(package)) if word)

    @property
    def is_temporary(self) -> bool:
        """True if uvx made this environment in its cache."""
        made = any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in self.prefix.parts)
        return made and any((folder / "CACHEDIR.TAG").is_file() for folder in self.prefix.parents)

    @property
    def installer(self) -> str:
        """Start of the install command, before the names of packages: `pip install` if the `pip` on the path belongs to
        this environment, else this environment's own pip, else uv.
        """
        from shlex import quote
        from shutil import which

        beside = self.prefix / "bin"
        if which("pip") == str(beside / "pip"):
            return "pip install"
        if (beside / "pip").is_file():
            return f"{quote(str(beside / 'pip'))} install"
        uv = str(beside / "uv") if (beside / "uv").is_file() else "uv"
        return f"{quote(uv)} pip install --python {quote(str(beside / 'python'))}"

    def _spec(self, extras: Iterable[str]) -> str:
        chosen = f"[{','.join(sorted(set(extras)))}]" if extras else ""
        if "://" in self.source:
            return f"{DISTRIBUTION}{chosen} @ {self.source}"
        return f"{self.source or DISTRIBUTION}{chosen}"

    def _requirements_of(self, extras: Iterable[str]) -> list[str]:
        """Return the requirements that only these extras have, without markers."""
        from packaging.requirements import Requirement

        found: dict[str, None] = {}
        for each in map(Requirement, self.requirements):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                continue
            if any(each.marker.evaluate({"extra": extra}) for extra in extras):
                inner = sorted(each.extras)
                if each.name == DISTRIBUTION and inner:
                    found |= dict.fromkeys(self._requirements_of(inner))
                else:
                    chosen = f"[{','.join(inner)}]" if inner else ""
                    found[f"{each.name}{chosen}{each.specifier}"] = None
        return list(found)


def _present() -> set[str]:
    return {extra for extra in EXTRAS if not lacks(extra)}


def find_origin() -> InstallOrigin:
    """Return how this copy was installed, from the record that installers leave (PEP 610)."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        own = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return InstallOrigin()
    text, wants = own.read_text("direct_url.json"), tuple(own.requires or ())
    if not text:
        return InstallOrigin(requirements=wants)
    said = json.loads(text)
    url, editable = str(said.get("url", "")), bool(said.get("dir_info", {}).get("editable"))
    vcs = said.get("vcs_info")
    if vcs:
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    path = unquote(urlsplit(url).path) if url.startswith("file://") else url
    return InstallOrigin(source=path, editable=editable, requirements=wants)


def install_command(*extras: str) -> str:
    """Return the command that adds these extras to this copy: from its wheel, clone or index, by pip, uv or pipx."""
    return find_origin().command(*extras)


def package_command(package: str, options: str = "") -> str:
    """Return the command that adds another package to this copy's environment. options: for pip."""
    return find_origin().package_command(package, options)

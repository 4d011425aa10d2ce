"""The operator's settings of image builds: the hosts that builds may reach, and the files and variables that builds
get.

How a machine reaches package registries depends on the machine and not on a task. So these settings are in no task
package and no experiment file: the environment variable `WORKSAMPLE_BUILDS` names the settings file. Without a settings
file, builds reach the public registries in `HOSTS`.
"""

from __future__ import annotations

import ipaddress
import os
import posixpath
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from worksample.errors import ImageError, UsageError
from worksample.files.config_files import AllowedText, Faults, exact_fault, read_toml, validate, value_fault
from worksample.records import Frozen
from worksample.sandboxes.endpoints import HostRule, read_rule

VARIABLE = "WORKSAMPLE_BUILDS"
HOSTS = (
    "deb.debian.org:80", "deb.debian.org:443", "security.debian.org:80", "archive.ubuntu.com:80",
    "security.ubuntu.com:80", "pypi.org:443", "files.pythonhosted.org:443", "registry.npmjs.org:443",
)  # fmt: skip
"""The public package registries of Debian, Ubuntu, Python and Node, which builds may reach by default."""


def _host(text: str) -> str:
    try:
        rule = read_rule(text)
    except UsageError as error:
        raise ValueError(error.what) from None
    return str(rule)


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError:
        raise exact_fault(f"{text!r} is not a network", "such as '10.1.2.3/32'") from None


def _place(path: str) -> str:
    if (
        not path.startswith("/")
        or posixpath.normpath("/" + path.lstrip("/")) != path
        or path == "/"
        or not path.isprintable()
    ):
        raise value_fault()
    return path


def _variable(name: str) -> str:
    if not name.isidentifier() or not name.isascii():
        raise value_fault()
    return name


Host = Annotated[str, AfterValidator(_host), AllowedText("NAME, NAME:PORT or *.NAME:PORT")]
Network = Annotated[str, AfterValidator(_network), AllowedText("a network such as '10.1.2.3/32'")]
Place = Annotated[str, AfterValidator(_place), AllowedText("a plain absolute path")]
Variable = Annotated[str, AfterValidator(_variable), AllowedText("the name of a variable")]


class BuildSettings(Frozen):
    """The keys of the settings file for image builds that `WORKSAMPLE_BUILDS` names."""

    hosts: tuple[Host, ...] = HOSTS
    """Hosts that builds may connect to: `NAME`, `NAME:PORT` or `*.NAME:PORT`. The default port is 443; `[]` allows no
    host.
    """
    networks: tuple[Network, ...] = ()
    """Private networks to which builds may connect, such as the network of an internal mirror. By default none."""
    env: dict[Variable, str] = {}
    """Environment variables of each `RUN` instruction. They are not stored in the image."""
    files: dict[Place, Place] = {}
    """Path in the build -> file of this machine that appears there read-only for each `RUN` instruction. The files are
    not stored in the image.
    """
    bases: dict[str, str] = {}
    """Image name in a `FROM` instruction without a digest -> the tar or OCI layout that replaces this image. The built
    image is reported as substituted.
    """

    @property
    def rules(self) -> tuple[HostRule, ...]:
        """The setting `hosts` as a tuple of rules."""
        return tuple(dict.fromkeys(read_rule(text) for text in self.hosts))

    def allows_private(self, address: str) -> bool:
        """Return whether an IP address lies in one of the private `networks`."""
        found = ipaddress.ip_address(address.partition("%")[0])
        return any(found in ipaddress.ip_network(text) for text in self.networks)


def load_build_settings() -> BuildSettings:
    """Return the settings in the operator's file, or the defaults without a file. Raises ImageError if the file is
    invalid.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return BuildSettings()
    path = Path(named)
    faults = Faults()
    document = read_toml(path, path.name, faults)
    found = None if document.broken else validate(BuildSettings, document.data, faults, file=path.name)
    if found is None or faults.found:
        said = "; ".join(map(str, faults.found))
        raise ImageError(f"the build settings are invalid: {said}", where=named, next=f"unset {VARIABLE}")
    return found


def settings_hint(table: str) -> str:
    """Return the commands with which the operator corrects the table `table` of the build settings and checks the
    correction.
    """
    return f"correct [{table}] in the file that {VARIABLE} names, then worksample image check FOLDER"

"""`worksample workplace install`."""

from __future__ import annotations

import click

from worksample.cli.output import printable


@click.command("install")
def command() -> int:
    """Install the programs of a workplace's services on this machine.

    Installs Debian packages with apt-get, as root or by sudo without a password. Redmine's files are taken from its
    package, which is not itself installed. Needs the extra `workplace`.
    """
    from worksample.workplace.install import install_programs
    from worksample.workplace.service_programs import SERVICES

    brought = install_programs(SERVICES)
    click.echo(printable(f"installed {', '.join(brought)}" if brought else "everything is here"))
    return 0

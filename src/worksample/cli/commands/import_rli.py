"""`worksample import rli`."""

from .import_jobs import command_for

command = command_for("rli")

"""`worksample import upbench`."""

from .import_jobs import command_for

command = command_for("upbench")

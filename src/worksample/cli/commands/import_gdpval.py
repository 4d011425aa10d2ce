"""`worksample import gdpval`."""

from .import_jobs import command_for

command = command_for("gdpval")

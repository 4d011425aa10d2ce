"""The commands: one file per command or noun, imported when it is called; the table is `worksample.cli.command_table`."""

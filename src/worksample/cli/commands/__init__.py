"""The commands: one file per command or noun, imported when it is called; `worksample.cli.command_table` lists them."""

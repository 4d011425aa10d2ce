"""One file per verb, each imported when it is called; the table of them is `worksample.cli.command_table`."""

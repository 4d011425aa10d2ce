"""The commands, one module for each command or group. A module is imported when its command is called.
`worksample.cli.command_table` lists all commands.
"""

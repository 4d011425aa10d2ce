"""Runs in the box, one process per job: reads a file of unknown make and writes what a browser can show.

Nothing here imports the platform, but for the rules by which tables are read (`worksample.files.tables`). `main`
reads a job from standard input and prints one JSON line per file.
"""

"""The converter that runs in a box, one process per job: reads an untrusted file and writes what a browser can show.

It imports nothing of the platform except the rules for reading tables (`worksample.files.tables`). `main` reads a job
from standard input and prints one JSON line per file.
"""

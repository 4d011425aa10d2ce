"""The converter: a program that runs in a box, one process per job. It reads an untrusted file and writes files that a
browser can show.

It imports nothing of the platform except the rules for reading tables (`worksample.files.tables`). `main` reads a job
from standard input and prints one line of JSON per file.
"""

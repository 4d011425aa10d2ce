"""Leaves without a word."""

import os


def grade(case):
    os._exit(0)

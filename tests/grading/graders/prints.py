"""Prints gigabytes."""


def grade(case):
    while True:
        print("x" * 1_000_000)

"""Takes all memory there is."""


def grade(case):
    held = []
    while True:
        held.append(b"x" * (8 << 20))

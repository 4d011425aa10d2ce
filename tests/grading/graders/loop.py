"""Never ends."""


def grade(case):
    while True:
        pass

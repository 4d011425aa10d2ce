"""Earthworks: depths against the reference and against doing nothing, volumes within half a per cent."""

from worksample.kit import Case, Grade, arrays, values, weighted


def grade(case: Case) -> Grade:
    return weighted(
        case,
        depths=lambda: arrays(case.output("depth.npy"), case.reference("depth.npy"), {0.01: 2, 0.1: 1}),
        volumes=lambda: values(case.output("summary.json"), case.reference("summary.json"), relative=0.005),
    )

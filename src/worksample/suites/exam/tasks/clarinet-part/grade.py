"""Clarinet: notes by measure, place, letter, accidental, octave and length; the melody as given earns nothing."""

from worksample.kit import Case, Grade, score, weighted


def grade(case: Case) -> Grade:
    given = [case.input("melody.musicxml")]
    return weighted(
        case,
        notes=lambda: score(case.output("clarinet.musicxml"), case.reference("clarinet.musicxml"), trivial=given),
    )

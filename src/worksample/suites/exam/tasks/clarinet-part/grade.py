"""Clarinet: notes by measure, place, letter, accidental, octave and length; the melody as given earns nothing."""

from worksample.kit import Case, Check, Grade, score, weighted
from worksample.kit.markup import local_name, read_xml


def grade(case: Case) -> Grade:
    want = case.reference("clarinet.musicxml")

    def notes() -> Check:
        return score(case.output("clarinet.musicxml"), want, trivial=[case.input("melody.musicxml")])

    def key() -> Check:
        root = case.xml("clarinet.musicxml")
        got, right = (
            [(e.text or "").strip() for e in one.iter() if local_name(e) == "fifths"] for one in (root, read_xml(want))
        )
        return Check.of(
            got == right and notes().fraction > 0, f"key signatures {got[:3]}, and the notes {notes().reason}"
        )

    return weighted(case, notes=notes, key=key)

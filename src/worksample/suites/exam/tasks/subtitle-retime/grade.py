"""Subtitles: words and times against the reference; the old subtitles earn nothing."""

import re

from worksample.kit import Case, Check, Grade, transcript, weighted


def grade(case: Case) -> Grade:
    def subtitles() -> Check:
        given = [case.input("film.srt")]
        return transcript(case.output("film.srt"), case.reference("film.srt"), seconds=0.05, trivial=given)

    def numbers() -> Check:
        found = [int(n) for n in re.findall(r"^(\d+)\s*\n\d\d:", case.text("film.srt"), re.MULTILINE)]
        many = len(re.findall("-->", case.ref_text("film.srt")))
        return Check.of(found == list(range(1, many + 1)) and subtitles().fraction > 0, f"numbered {found[:5]}...")

    return weighted(case, subtitles=subtitles, numbers=numbers)

"""Subtitles after a cut: shifted, trimmed, dropped and renumbered."""

import csv
import re
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
cuts = sorted((float(r["from_s"]), float(r["to_s"])) for r in csv.DictReader((inputs / "cuts.csv").open()))


def seconds(text):
    h, m, s = text.replace(",", ".").split(":")
    return 3600 * int(h) + 60 * int(m) + float(s)


def written(value):
    milli = round(value * 1000)
    return f"{milli // 3600000:02d}:{milli // 60000 % 60:02d}:{milli // 1000 % 60:02d},{milli % 1000:03d}"


def moved(time):
    if "no-shift" in slips:
        return time
    return time - sum(min(time, b) - a for a, b in cuts if time > a)


number, text = 0, []
for block in re.split(r"\n\s*\n", (inputs / "film.srt").read_text().strip()):
    lines = block.splitlines()
    begin, end = (seconds(part.strip()) for part in lines[1].split("-->"))
    inside = any(a <= begin and end <= b for a, b in cuts)
    if inside and "keeps-cut-lines" not in slips:
        continue
    first, last = moved(begin), moved(end)
    if "no-trimming" in slips:
        last = first + end - begin
    if last - first < 0.3 and "keeps-flashes" not in slips and "keeps-cut-lines" not in slips:
        continue
    number += 1
    text.append(f"{number}\n{written(first)} --> {written(max(last, first))}\n" + "\n".join(lines[2:]) + "\n")
(output / "film.srt").write_text("\n".join(text))

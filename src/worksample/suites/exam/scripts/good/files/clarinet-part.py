"""A part for a clarinet in B flat from a melody in concert pitch."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
tree = ET.parse(inputs / "melody.musicxml")
steps, semitones = "CDEFGAB", [0, 2, 4, 5, 7, 9, 11]
for fifths in tree.iter("fifths"):
    fifths.text = str(int(fifths.text) + (0 if "keeps-key" in slips else 2))
for pitch in tree.iter("pitch"):
    step, alter, octave = pitch.find("step"), pitch.find("alter"), pitch.find("octave")
    index = steps.index(step.text)
    sound = semitones[index] + (int(alter.text) if alter is not None else 0) + 2
    place = index + (0 if "respells" in slips and sound - semitones[index] <= 1 else 1)
    if "wrong-way" in slips:
        sound, place = sound - 4, index - 1
    up = 0 if "octave-lost" in slips else place // 7
    letter = steps[place % 7]
    change = sound - 12 * (place // 7) - semitones[place % 7]
    step.text, octave.text = letter, str(int(octave.text) + up)
    if alter is not None:
        pitch.remove(alter)
    if change:
        new = ET.Element("alter")
        new.text = str(change)
        pitch.insert(1, new)
if "drops-chords" in slips:
    for measure in tree.iter("measure"):
        for note in [n for n in measure.findall("note") if n.find("chord") is not None]:
            measure.remove(note)
tree.write(output / "clarinet.musicxml", encoding="UTF-8", xml_declaration=True)

"""Open reading frames on both strands, with their proteins."""

import csv
import json
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
text = (inputs / "contig.fasta").read_text().splitlines()
dna = "".join(line.strip() for line in text if not line.startswith(">")).upper()
least = json.loads((inputs / "rules.json").read_text())["least_codons"]
code = dict(
    zip((a + b + c for a in "TCAG" for b in "TCAG" for c in "TCAG"),
        "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG", strict=True)
)  # fmt: skip
back = dna[::-1].translate(str.maketrans("ACGTN", "TGCAN"))
rows = []
for strand, sequence in (("+", dna),) if "one-strand" in slips else (("+", dna), ("-", back)):
    for frame in range(3):
        start = None
        for at in range(frame, len(sequence) - 2, 3):
            codon = sequence[at : at + 3]
            if start is None and codon == "ATG":
                start = at
            elif start is not None and code.get(codon) == "*":
                codons = (at - start) // 3
                if codons >= least:
                    first, last = start + 1, at + 3
                    if strand == "-":
                        first, last = len(dna) - last + 1, len(dna) - first + 1
                    if "from-zero" in slips:
                        first -= 1
                    protein = "".join(code.get(sequence[i : i + 3], "X") for i in range(start, at, 3))
                    rows.append((first, last, strand, codons, protein))
                start = None
rows.sort()
with (output / "orfs.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["start", "end", "strand", "codons", "protein"])
    out.writerows([*row[:4], row[4] + "*" * ("with-stop" in slips)] for row in rows)

"""Tasks of the exam suite in the physical, life and psychological sciences."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from .engineering import write_csv
from .exam_task import Criterion, ExamTask, Settings


def star(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a variable star's photometry in two filters, with some flagged frames."""
    period, amplitude = settings["_period"], settings["_amplitude"]
    rows: list[dict[str, Any]] = []
    for night in sorted(rng.sample(range(80), 26)):
        start = 2460800.31 + night + rng.uniform(-0.03, 0.06)
        for i in range(rng.randrange(3, 8)):
            day = start + i * 0.021
            phase = (day / period) % 1
            wave = math.sin(2 * math.pi * phase) + 0.35 * math.sin(4 * math.pi * phase + 0.7)
            for name, factor, shift in (("V", 1.0, 0.0), ("B", 1.3, 0.62)):
                error = round(rng.uniform(0.008, 0.02), 3)
                bad = rng.random() < 0.06
                mag = (
                    12.4
                    + shift
                    + amplitude / 2 * factor * wave
                    + rng.gauss(0, error)
                    + (rng.choice([-2, 2.5]) if bad else 0)
                )
                rows.append(
                    {"bjd": f"{day:.5f}", "filter": name, "mag": f"{mag:.4f}", "mag_error": error, "flag": int(bad)}
                )
    write_csv(folder / "photometry.csv", rows)
    (folder / "search.json").write_text(json.dumps({"period_days": settings["_search"]}), encoding="utf-8")


STAR = ExamTask(
    id="variable-star",
    title="Period and amplitude of a variable star",
    category="physical_sciences/astronomy",
    occupation="19-2011",
    tier="easy",
    family="values",
    hours=(1.5, 3),
    deliverables={"star.json": ("json", "the star's elements")},
    brief="""
## Work description

A survey confirmed a variable star. Determine its elements from the V photometry for the catalogue.

- Use the observations in filter V whose `flag` is 0 (others are saturated or hit by a cosmic ray).
- Fit a constant and three harmonics (the period and its half and third) by least squares weighted with 1 / `mag_error` squared; the period
  is the one in the range of `search.json` with the smallest sum of weighted squares.
- `amplitude_mag`: largest minus smallest magnitude of the fitted curve. `mean_mag`: the fit's constant.
- `epoch_of_maximum_bjd`: a moment of greatest brightness of the fitted curve; any cycle near the observations will do.

## Provided material

- `photometry.csv`: `bjd` (days), `filter`, `mag`, `mag_error`, `flag`
- `search.json`: the range of periods in days

## Deliverables

- `star.json`: `period_days` (to 0.0001), `amplitude_mag` (to 0.01), `mean_mag` (to 0.005), `epoch_of_maximum_bjd` (to 2 % of the period),
  `observations_used`
""",
    criteria=(
        Criterion("period", "The period is right to 0.0001 days.", 3),
        Criterion("shape", "Amplitude and mean magnitude are right.", 2),
        Criterion("epoch", "The epoch is a maximum, to 2 % of the period.", 1),
        Criterion("used", "The right observations were used.", 1),
    ),
    grade='''
"""Variable star: each element within its tolerance; the epoch in any cycle."""

from worksample.kit import Case, Check, Grade, close, every, weighted

LIKE = {"period_days": float, "amplitude_mag": float, "mean_mag": float, "epoch_of_maximum_bjd": float,
        "observations_used": int}  # fmt: skip


def grade(case: Case) -> Grade:
    want = case.ref_json("star.json")

    def near(name: str, allowed: float) -> Check:
        got = case.json("star.json", like=LIKE)[name]
        return Check.of(close(got, want[name], allowed), f"{name} is {got}")

    def epoch() -> Check:
        period = want["period_days"]
        away = (case.json("star.json", like=LIKE)["epoch_of_maximum_bjd"] - want["epoch_of_maximum_bjd"]) / period
        return Check.of(abs(away - round(away)) <= 0.02 and abs(away) < 1_000, "the epoch is no maximum of these nights")

    return weighted(
        case,
        period=lambda: near("period_days", 1e-4),
        shape=lambda: every([near("amplitude_mag", 0.01), near("mean_mag", 0.005)]),
        epoch=epoch,
        used=lambda: near("observations_used", 0),
    )
''',
    instances={
        "fast": {"_period": 0.53127, "_amplitude": 0.84, "_search": [0.3, 0.9]},
        "slow": {"_period": 4.7183, "_amplitude": 0.61, "_search": [3.0, 7.0]},
    },
    make=star,
    slips={
        "half-period": "Takes half of the period.",
        "keeps-flagged": "Uses saturated frames.",
        "one-filter-mixed": "Mixes the filters.",
        "amplitude-from-extremes": "Takes the extreme observations for the amplitude.",
    },
    half=("amplitude-from-extremes",),
    filler={"star.json": json.dumps({"period_days": 1.0, "amplitude_mag": 0.5, "mean_mag": 12.0,
                                     "epoch_of_maximum_bjd": 0.0, "observations_used": 0})},
)  # fmt: skip


def contig(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a contig with genes on both strands."""
    codons = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT" if a + b + c not in ("TAA", "TAG", "TGA")]
    back = str.maketrans("ACGT", "TGCA")
    dna = ""
    for i in range(settings["_genes"]):
        dna += "".join(rng.choice("ACGT") for _ in range(rng.randrange(60, 220)))
        gene = (
            "ATG"
            + "".join(rng.choice(codons) for _ in range(rng.randrange(25, 120)))
            + rng.choice(["TAA", "TAG", "TGA"])
        )
        dna += gene if i % 2 else gene[::-1].translate(back)
    dna += "N" * 12 + "".join(rng.choice("ACGT") for _ in range(150))
    lines = [dna[i : i + 60].lower() if i % 180 == 0 else dna[i : i + 60] for i in range(0, len(dna), 60)]
    (folder / "contig.fasta").write_text(
        "\n".join([f">contig_{settings['_genes']} draft assembly", *lines, ""]), encoding="utf-8"
    )
    (folder / "rules.json").write_text(json.dumps({"least_codons": settings["_least"]}), encoding="utf-8")


ORFS = ExamTask(
    id="orf-annotation",
    title="Open reading frames of a contig",
    category="life_sciences/genomics",
    occupation="19-1029",
    tier="medium",
    family="tables",
    hours=(1, 2),
    deliverables={"orfs.csv": ("csv", "one row per open reading frame")},
    brief="""
## Work description

List the open reading frames of a draft contig for the annotators.

- Look in all six frames. In each frame, a reading frame begins at the first ATG after the previous stop (or after the frame's beginning) and
  ends with the next stop (TAA, TAG, TGA). ATGs inside it begin nothing. One without a stop before the contig's end is left out.
- Keep those with at least `least_codons` codons, the ATG counted and the stop not.
- `start` and `end` are positions on the given strand, from 1, both included, the stop included, and `start` is smaller than `end` on both
  strands. `strand` is `+` or `-`. `codons` counts the ATG, not the stop.
- `protein`: the translation by the standard code in one-letter codes, without the stop; a codon with an N is X.
- Lower case in the FASTA file marks repeats and means nothing else.

## Provided material

- `contig.fasta`, `rules.json`

## Deliverables

- `orfs.csv`: columns `start`, `end`, `strand`, `codons`, `protein`; one row each and no others
""",
    criteria=(
        Criterion("places", "Every reading frame is listed with its place and length, and no others are.", 3),
        Criterion("proteins", "Every protein is right.", 2),
    ),
    grade='''
"""Reading frames: rows by place and strand; proteins of those rows."""

from worksample.kit import Case, Grade, tabular, weighted


def grade(case: Case) -> Grade:
    want = case.ref_rows("orfs.csv")
    keys = ["start", "end", "strand"]
    return weighted(
        case,
        places=lambda: tabular(case.rows("orfs.csv"), want, keys=keys, columns=["codons"]),
        proteins=lambda: tabular(case.rows("orfs.csv"), want, keys=keys, columns=["protein"]),
    )
''',
    instances={"plasmid": {"_genes": 14, "_least": 24}, "phage": {"_genes": 22, "_least": 30}},
    make=contig,
    slips={
        "one-strand": "Looks at the given strand only.",
        "from-zero": "Counts positions from 0.",
        "with-stop": "Writes the stop into the protein.",
    },
    half=("one-strand",),
    filler={"orfs.csv": "start,end,strand,codons,protein\n1,3,+,1,M\n"},
)


def sessions(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write the trials of a Stroop experiment, one file per session."""
    colours = ["red", "green", "blue", "yellow"]
    people = settings["_people"]
    sloppy = set(rng.sample(range(people), 3))
    for number in range(people):
        rows = []
        base, cost = rng.uniform(520, 720), rng.gauss(75, 30)
        for i in range(110):
            block = "practice" if i < 14 else "main"
            ink = rng.choice(colours)
            word = ink if rng.random() < 0.5 else rng.choice([c for c in colours if c != ink])
            wrong = rng.random() < (0.35 if number in sloppy else 0.04)
            missed = rng.random() < 0.015
            rt = rng.gauss(base + (cost if word != ink else 0) + (150 if block == "practice" else 0), 85) + (
                rng.choice([0, 0, 0, 900]) if rng.random() < 0.06 else 0
            )
            rt = rng.uniform(60, 150) if rng.random() < 0.01 else rt
            rows.append({
                "participant": f"P{number + 1:02d}", "trial": i + 1, "block": block, "word": word, "ink": ink,
                "response": "" if missed else rng.choice([c for c in colours if c != ink]) if wrong else ink,
                "rt_ms": "" if missed else f"{rt:.1f}",
            })  # fmt: skip
        write_csv(folder / f"session-{number + 1:02d}.csv", rows)
    told = {"least_accuracy": 0.8, "rt_ms": [200, 2000], "trim_sd": settings["_trim"]}
    (folder / "preregistration.json").write_text(json.dumps(told), encoding="utf-8")


STROOP = ExamTask(
    id="stroop-scoring",
    title="Stroop effects by the preregistered rules",
    category="psychology_neuro/exp_psychology",
    occupation="19-3039",
    tier="hard",
    family="tables",
    hours=(1.5, 3),
    deliverables={
        "participants.csv": ("csv", "one row per participant kept"),
        "summary.json": ("json", "the test of the effect"),
    },
    brief="""
## Work description

Score a Stroop experiment exactly as it was preregistered, in this order:

1. Practice trials are left out of everything.
2. `accuracy`: trials in which `response` names the `ink`, divided by all trials; a trial without a response is wrong. A participant below
   `least_accuracy` is excluded.
3. Of right trials, those with a reaction time in `rt_ms` (both ends included) are kept.
4. Then, for each participant and condition (congruent: `word` equals `ink`), times further than `trim_sd` standard deviations from the mean
   of the condition are dropped, once. Standard deviations divide by n - 1.
5. `effect_ms`: mean of the incongruent minus mean of the congruent times.

## Provided material

- `session-NN.csv`: one participant each: `participant`, `trial`, `block`, `word`, `ink`, `response`, `rt_ms`
- `preregistration.json`: the rules' numbers

## Deliverables

- `participants.csv`: `participant`, `accuracy` (0 to 1, to 0.0005), `congruent_ms`, `incongruent_ms`, `effect_ms` (to 0.05); nobody who is excluded
- `summary.json`: `n`, `excluded` (a list of participants, sorted), `mean_effect_ms`, `sd_effect_ms` (to 0.05), `t` of the test against 0 (to
  0.01), `cohens_dz` (mean by standard deviation, to 0.005)
""",
    criteria=(
        Criterion("people", "Accuracy, times and effects of each participant are right.", 3),
        Criterion("excluded", "The right participants are excluded.", 1),
        Criterion("test", "Mean, standard deviation, t and effect size are right.", 2),
    ),
    grade='''
"""Stroop: participants cell by cell, then the exclusions and the test."""

from worksample.kit import Case, Check, Grade, close, every, tabular, weighted

LIKE = {"n": int, "excluded": [str], "mean_effect_ms": float, "sd_effect_ms": float, "t": float, "cohens_dz": float}
NEAR = {"n": 0, "mean_effect_ms": 0.05, "sd_effect_ms": 0.05, "t": 0.01, "cohens_dz": 0.005}


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")
    allowed = {"accuracy": 0.0005, "congruent_ms": 0.05, "incongruent_ms": 0.05, "effect_ms": 0.05}

    def excluded() -> Check:
        got = case.json("summary.json", like=LIKE)["excluded"]
        return Check.of(sorted(got) == want["excluded"], f"excluded are {got[:10]}")

    def test() -> Check:
        got = case.json("summary.json", like=LIKE)
        return every(Check.of(close(got[k], want[k], near), f"{k} is {got[k]}") for k, near in NEAR.items())

    return weighted(
        case,
        people=lambda: tabular(
            case.rows("participants.csv"), case.ref_rows("participants.csv"), keys=["participant"], tolerance=allowed
        ),
        excluded=excluded,
        test=test,
    )
''',
    instances={"spring": {"_people": 16, "_trim": 2.5}, "autumn": {"_people": 20, "_trim": 3.0}},
    make=sessions,
    slips={
        "keeps-practice": "Counts practice trials.",
        "keeps-errors": "Keeps the times of wrong answers.",
        "no-trimming": "Does not trim times.",
        "no-exclusion": "Excludes nobody.",
    },
    half=("no-exclusion", "no-trimming"),
    filler={"participants.csv": "participant,accuracy,congruent_ms,incongruent_ms,effect_ms\nP99,1,0,0,0\n",
            "summary.json": json.dumps({"n": 0, "excluded": [], "mean_effect_ms": 0, "sd_effect_ms": 0, "t": 0, "cohens_dz": 0})},
)  # fmt: skip

TASKS = (STAR, ORFS, STROOP)

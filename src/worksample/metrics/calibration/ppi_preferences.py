"""Prediction-powered preferences for ratings: a judge's preferences, corrected pair by pair with people's."""

from __future__ import annotations

import numpy as np
import polars as pl

from worksample.metrics.column_checks import Column, Floats, Ints, codes

from .label_sample import CheckedSample, LabelKind, Sample, check_sample


def rectify_preferences(sample: Sample, couple: Column) -> pl.Series:
    """Return corrected preferences: one value per row, whose mean over the rows of a couple (two compared agents) is
    the couple's prediction-powered preference (Angelopoulos, Duchi and Zrnic 2023). Each project counts once in that
    mean.

    `sample` contains preferences for the first of each pair, 0..1. `couple` names the two compared agents, in the same
    order in every row.

    Let lambda be the weight of the judge, and m the mean of (people - lambda * judge) over the labelled rows. Every row
    has the value lambda * judge + m. A labelled row has in addition (people - lambda * judge - m) times the number of
    rows that its label represents. Resampling projects then shows the uncertainty of the labels. A single value may lie
    outside 0..1. The value is null in a couple with fewer than two labels.
    """
    data = check_sample(sample, LabelKind.PREFERENCE)
    which = codes("couple", couple)
    weight = _once_per_project(data, which.index)
    size = which.size
    told = np.bincount(which.index[data.has], minlength=size) >= 2
    tuning = _tune(data, which.index, weight, size)
    rest = data.people - tuning * data.judge
    mine = weight * data.has
    have = np.bincount(which.index, weights=mine, minlength=size)
    every = np.bincount(which.index, weights=weight, minlength=size)
    mean = np.bincount(which.index, weights=mine * rest, minlength=size) / np.where(have > 0, have, 1)
    # The spread is corrected: a mean of few labels is closer to them than to the rows that they represent.
    labels = np.bincount(which.index[data.has], minlength=size)
    grown = np.sqrt(labels / np.maximum(labels - 1, 1))
    stands = (grown * every / np.where(have > 0, have, 1))[which.index] * data.has
    value = tuning * data.judge + mean[which.index] + stands * (rest - mean[which.index])
    return pl.Series("rectified", value).set(pl.Series(~told[which.index]), None)


def _once_per_project(data: CheckedSample, couple: Ints) -> Floats:
    cell = data.project * (int(couple.max(initial=0)) + 1) + couple
    return np.asarray(1 / np.bincount(cell)[cell])


def _tune(data: CheckedSample, couple: Ints, weight: Floats, size: int) -> float:
    """Return lambda, the weight of the judge, in 0..1. All couples share one lambda, since a single couple has too few
    labels to choose its own.
    """
    y, f = (_centre(values, couple, weight * data.has, size) for values in (data.people, data.judge))
    labels, rows = int(data.has.sum()), data.rows
    if labels < 2:
        return 0.0
    shared = float((y * f)[data.has].sum()) / labels
    spread = float((_centre(data.judge, couple, weight, size) ** 2).mean())
    if spread <= 1e-12:
        return 0.0
    rest = rows - labels
    return min(max(shared / (spread * (1 + labels / max(rest, 1))), 0.0), 1.0)


def _centre(values: Floats, couple: Ints, weight: Floats, size: int) -> Floats:
    total = np.bincount(couple, weights=weight, minlength=size)
    mean = np.bincount(couple, weights=weight * values, minlength=size) / np.where(total > 0, total, 1)
    return np.asarray(values - mean[couple])

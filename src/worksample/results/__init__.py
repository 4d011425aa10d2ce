"""Verdicts and the result set: the rounds that decide, their verdicts, and the table that all figures are computed
from.

`deciding_rounds` selects the rounds that count. `verdicts` combines the evaluations of a round into verdicts.
`experiment_verdicts` joins both for each protocol. `slot_results` contains the plan with its trials. `result_set` joins
all of these in a table with a row for each slot and each submission from outside. The rules of passing are in
`records.pass_rules`, and for rubrics in `metrics.scores.rubric`.
"""

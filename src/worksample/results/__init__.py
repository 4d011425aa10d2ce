"""Verdicts and the result set: the rounds that decide, their verdicts, and the frame that every figure reads.

`deciding_rounds` selects the rounds that count, `verdicts` resolves their evaluations, `judgments` joins both by
protocol, `slots` is the plan with its trials, and `result_set` joins all of it: a row per slot and per handed-in
submission. The pass rule is in `records.pass_rules` and, for rubrics, in `metrics.scores.rubric`.
"""

"""Verdicts and the result set: which rounds decide, the verdicts they come to, and the frame that every figure reads.

`deciding_rounds` says which rounds count, `verdicts` resolves their evaluations, `judgments` joins both by protocol,
`slots` is the plan with its trials, and `result_set` joins all of it: a row per slot and per submission that was handed
in. The pass rule is in `records.pass_rules` and, for rubrics, in `metrics.rubric_scores`.
"""

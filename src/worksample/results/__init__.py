"""Which rounds decide, what they come to, and the one frame that everything reported is read from.

`rounds` says which count, `resolving` what their evaluations come to, `judging` both for an experiment's protocols,
`slots` what became of the plan, and `work` joins the two: a row per slot and per piece of work handed in. What passing
is stands in `records.passing` and, for rubrics, in `metrics.rubric_scores`.
"""

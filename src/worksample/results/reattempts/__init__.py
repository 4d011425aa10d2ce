"""Re-attempts: when an attempt follows another, and what the agent then receives.

`chain_rule` decides from the state of a chain, `chain_state` reads that state from a store's verdicts,
`feedback_speakers` finds the feedback on a submission, `feedback_prompt` puts it into words, and `earlier_work` is what
one slot's agent receives, or the same work handed in again.
"""

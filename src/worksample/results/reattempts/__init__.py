"""Re-attempts: the rule for another attempt, and the input that the agent then receives.

`chain_rule` decides from the state of a chain, `chain_state` reads that state from a store's verdicts,
`feedback_sources` finds the feedback on a submission, `feedback_prompt` puts it into words, and `earlier_work`
prepares the input of a slot's agent, or hands in the same work again.
"""

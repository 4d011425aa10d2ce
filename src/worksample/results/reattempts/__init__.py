"""Re-attempts of failed work: the rule that decides about another attempt, and the input that the agent then receives.

`chain_rule` decides from the state of a chain. `chain_state` reads this state from the store. `feedback_sources` finds
the feedback on a submission, and `feedback_prompt` writes it as text. `previous_attempt` prepares the input of the
agent, or submits the same work again.
"""

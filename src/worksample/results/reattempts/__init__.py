"""Attempts that follow attempts: when one does, and what the agent is then given.

`rule` decides from what became of a chain so far, `reading` makes that of a store's verdicts, `said` finds what was
said of a piece of work, `telling` puts it into words, `feeding` is what one slot's agent gets, and `carrying` hands in
the same work again.
"""

"""Tables that somebody else made: which characters a file holds, how its cells are separated, what its numbers say.

One set of rules and limits for every reader: jobs, finished work, judgments, the market, deliverables in a grader's
box. Only the standard library is imported, so that a grader's process stays light.
"""

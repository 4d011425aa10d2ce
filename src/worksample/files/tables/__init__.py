"""Tables from outside: their encoding, separators and number formats.

Every reader uses the same rules and limits: jobs, finished work, judgments, the market, and deliverables in a grader's
box. Only the standard library is imported, so that a grader's process stays light.
"""

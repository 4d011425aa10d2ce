"""Colleagues: simulated people in a company's chat, each with knowledge that nobody else has. Their answers come from
rules, from a model, or from a person.
"""

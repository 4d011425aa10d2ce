"""Colleagues: simulated people who answer in a company's chat with what only they know, by rules, by a model, or by a
person.
"""

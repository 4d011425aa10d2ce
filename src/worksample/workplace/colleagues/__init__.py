"""Colleagues: who answers in a company's chat, with what only they know, by rules, by a model, or as a person."""

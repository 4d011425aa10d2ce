"""Rounds by people: what is asked, of what, in which order."""

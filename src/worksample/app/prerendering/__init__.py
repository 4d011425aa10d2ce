"""Deliverables turned into views in the background, what is on a screen first."""

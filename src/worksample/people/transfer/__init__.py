"""Judgments in from elsewhere, and out to other programs."""

"""Accounts, sessions, profiles, and who has seen makers' names."""

"""Accounts, sessions and profiles of people, and records of which admins have seen the names of makers."""

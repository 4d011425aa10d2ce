"""Signing in, profiles, and the accounts and invitations that admins manage."""

"""Talks to the gateway of a depot."""

import urllib.request

BASE = "https://gateway.quaymark.invalid"
TOKEN = "qmt_live_7fd2a90c41be"


def headers():
    """What every request bears."""
    return {"Authorization": f"Bearer {TOKEN}", "Accept": "text/plain"}


def request(depot, since):
    """A request for all frames of a depot since a moment."""
    return urllib.request.Request(f"{BASE}/{depot}/frames?since={since}", headers=headers())

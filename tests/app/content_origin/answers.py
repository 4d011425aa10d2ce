"""What every answer of the content origin has to carry."""

from __future__ import annotations

import httpx

INERT = {"default-src 'none'", "sandbox"}
APP, VIEWER = "http://ws.localhost:8765", "http://v.ws.localhost:8765"


def policy(response: httpx.Response) -> set[str]:
    return {part.strip() for part in response.headers["content-security-policy"].split(";")}


def guarded(response: httpx.Response) -> None:
    """What no answer lacks, whatever it says."""
    headers = response.headers
    assert headers.get_list("content-security-policy") and len(headers.get_list("content-security-policy")) == 1
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "same-origin"
    assert headers["origin-agent-cluster"] == "?1" and "camera=()" in headers["permissions-policy"]
    assert headers["cross-origin-resource-policy"] in ("same-site", "same-origin")
    assert "set-cookie" not in headers and ("location" not in headers or response.status_code == 307)
    assert any(part.startswith("sandbox") for part in policy(response))
    assert f"frame-ancestors 'self' {APP} {VIEWER}" in policy(response)

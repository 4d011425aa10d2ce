"""Security headers of every response of the content origin.

Every response needs a policy, even an error response. A malicious page could frame an error of its own origin, and
would then act under the policy of the error.
"""

from __future__ import annotations

from worksample.app.config import AppConfig

_OFF = (
    "accelerometer", "ambient-light-sensor", "attribution-reporting", "bluetooth", "browsing-topics", "camera",
    "clipboard-read", "clipboard-write", "compute-pressure", "display-capture", "encrypted-media", "geolocation",
    "gyroscope", "hid", "identity-credentials-get", "idle-detection", "join-ad-interest-group", "keyboard-map",
    "local-fonts", "magnetometer", "microphone", "midi", "otp-credentials", "payment", "publickey-credentials-create",
    "publickey-credentials-get", "run-ad-auction", "screen-wake-lock", "serial", "storage-access", "usb", "web-share",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip

REPORTS = "/.worksample/blocked"


def _ancestors(config: AppConfig) -> str:
    # A site may frame its own pages.
    return f"frame-ancestors 'self' {config.app_origin} {config.viewer_origin}"


def site_policy(config: AppConfig) -> str:
    """Return the policy of a deliverable's own pages: all their content runs, and no request leaves the host.

    The sandbox keeps a page in its frame even if the frame lacks that attribute. `allow-same-origin` means the page's
    own origin, which no other page shares. Chromium and Firefox do not know `webrtc` yet; Chromium reports it in the
    console.
    """
    return (
        "default-src 'self' data: blob:; "
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; "
        "style-src 'self' 'unsafe-inline' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
        f"object-src 'none'; base-uri 'self'; form-action 'none'; webrtc 'block'; {_ancestors(config)}; "
        f"sandbox allow-scripts allow-same-origin allow-forms allow-pointer-lock; report-uri {REPORTS}"
    )


def inert_policy(config: AppConfig) -> str:
    """Return the policy of single files and data: nothing in them runs, in whatever tab or frame they are opened."""
    return f"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; {_ancestors(config)}; sandbox"


def page_policy(config: AppConfig, *, scripts: bool) -> str:
    """Return the policy of pages that we build around a file's markup.

    Pages without scripts keep the origin, which their pictures need. Pages with scripts (outputs of notebooks) have an
    opaque origin, so they can read nothing; all that they need is in the page.
    """
    ancestors = f"base-uri 'none'; form-action 'none'; {_ancestors(config)}; report-uri {REPORTS}"
    if scripts:
        return (
            "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; "
            "style-src 'unsafe-inline' data:; img-src data: blob:; font-src data:; media-src data: blob:; "
            f"worker-src blob:; webrtc 'block'; {ancestors}; sandbox allow-scripts"
        )
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; font-src data:; "
        f"{ancestors}; sandbox allow-same-origin"
    )


def usual_headers(config: AppConfig) -> dict[str, str]:
    """Return the headers of every response that does not set its own."""
    lasting = {"strict-transport-security": "max-age=31536000"} if config.scheme == "https" else {}
    return {
        "content-security-policy": inert_policy(config),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-resource-policy": "same-site",
        # Isolates content hosts even if both pages relax `document.domain`.
        "origin-agent-cluster": "?1",
        "x-dns-prefetch-control": "off",
        "x-robots-tag": "noindex",
        "permissions-policy": ", ".join(f"{name}=()" for name in _OFF),
        "cache-control": "no-store",
        **lasting,
    }

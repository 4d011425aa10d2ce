"""Security headers of the app's and the viewer's origin, with their content security policies."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worksample.app.config import AppConfig

_NO_FEATURES = ", ".join(
    f"{name}=()"
    for name in (
        "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation",
        "gyroscope", "hid", "idle-detection", "magnetometer", "microphone", "midi", "payment",
        "picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "serial", "usb",
        "xr-spatial-tracking",
    )
)  # fmt: skip
# Films and sites may use full screen and autoplay, through the viewer's frame.
_APP_FEATURES = _NO_FEATURES.replace("fullscreen=()", "fullscreen=*").replace("autoplay=()", "autoplay=*")


API_HEADERS = {"cache-control": "no-store"}
"""Headers of all API responses: browsers must store nothing of a person's work."""


def app_policy(config: AppConfig) -> str:
    """Return the policy of the app's pages: only our own scripts and styles."""
    content, viewer = config.content_origins, config.viewer_origin
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data: {content}; font-src 'self'; connect-src 'self' {content}; "
        f"frame-src {viewer} {content}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def viewer_policy(config: AppConfig) -> str:
    """Return the policy of the viewer, which reads untrusted files. It has no data and no cookies; only the app may
    frame it.
    """
    content = config.content_origins
    return (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; "
        f"style-src 'self' 'unsafe-inline'; img-src 'self' data: blob: {content}; media-src blob: {content}; "
        f"font-src 'self' data: blob:; connect-src 'self' blob: data: {content}; frame-src {content}; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {config.app_origin}"
    )


def app_headers(config: AppConfig) -> dict[str, str]:
    """Return the headers of the app's origin."""
    return {
        **_common_headers(config),
        "content-security-policy": app_policy(config),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": _APP_FEATURES,
        "x-frame-options": "DENY",
    }


def viewer_headers(config: AppConfig) -> dict[str, str]:
    """Return the headers of the viewer's origin."""
    return {
        **_common_headers(config),
        "content-security-policy": viewer_policy(config),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": _APP_FEATURES,
    }


def _common_headers(config: AppConfig) -> dict[str, str]:
    lasting = {"strict-transport-security": "max-age=31536000"} if config.scheme == "https" else {}
    return {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-dns-prefetch-control": "off",
        "x-robots-tag": "noindex",
        **lasting,
    }


class SecurityHeaders:
    """Middleware that adds headers to responses that lack them."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                have = {name.lower() for name, _ in message.get("headers", ())}
                added = [pair for pair in self._headers if pair[0] not in have]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await self._app(scope, receive, with_headers)

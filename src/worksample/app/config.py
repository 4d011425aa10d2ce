"""Configuration of a server of the review app: its addresses and limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from worksample.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class AppConfig:
    """Addresses as the browser sees them, and limits. `worksample serve` has an option for each address."""

    host: str = "ws.localhost"
    """The app's host name. `v.HOST` and `*.c.HOST` must resolve to the same server; browsers resolve `*.localhost`
    themselves.
    """
    port: int = 8765
    """The port as the browser sees it; behind a proxy, the proxy's."""
    scheme: str = "http"
    """`https` if a proxy in front speaks TLS: cookies are then Secure and have the prefix `__Host-`."""
    request_bytes: int = 4 << 20
    """Most bytes of a request's body."""
    import_bytes: int = 64 << 20
    """Most bytes of the body of an import of judgments."""
    body_seconds: float = 20
    """Seconds within which a request's body must arrive; imports get six times as long."""
    head_seconds: float = 20
    """Seconds within which a request's headers must arrive, from its first byte or from the start of the connection."""
    logins_per_minute: int = 10
    """Failed sign-ins allowed per minute, by address and by name, in this process."""
    writes_per_minute: int = 600
    """Write requests allowed per minute and session, in this process."""
    convert_parallel: int = 1
    """Number of conversions that run at once, each in a box."""
    judges: Path | None = None
    """A TOML file with `[judges.rubric]`, `[prices]` and `[services]` as in an experiment file. It configures the model
    that suggests criteria for rubrics. None: no model suggests any.
    """
    static: Path = Path(__file__).parent / "static"
    """Folder of the built pages of `web/`; by default the one in the package."""
    capability_hours: float = 12
    """Hours for which the address of a deliverable is valid; it never outlasts its session."""

    def __post_init__(self) -> None:
        if self.scheme not in ("http", "https"):
            raise UsageError(f"the scheme {self.scheme} is not supported", next="http or https")
        labels = self.host.split(".")
        if not all(label and label.replace("-", "").isalnum() and label.isascii() for label in labels):
            raise UsageError(f"{self.host!r} is not a host name", next="a name such as review.example.org")
        if len(labels) < 2:
            # Browsers isolate cookies of a bare host name, too, but most resolvers do not know v.NAME.
            raise UsageError(f"{self.host!r} can have no subdomains", next=f"ws.{self.host}")

    @property
    def netloc(self) -> str:
        """Host and port, without the scheme's default port."""
        usual = {"http": 80, "https": 443}[self.scheme]
        return self.host if self.port == usual else f"{self.host}:{self.port}"

    @property
    def app_origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    @property
    def viewer_origin(self) -> str:
        return f"{self.scheme}://v.{self.netloc}"

    @property
    def content_origins(self) -> str:
        """A pattern for content origins, as a source in a content security policy."""
        return f"{self.scheme}://*.c.{self.netloc}"

    def content_origin(self, capability: str) -> str:
        """Return the origin that shows one deliverable to one person."""
        return f"{self.scheme}://{capability}.c.{self.netloc}"

    @property
    def cookie(self) -> str:
        """Name of the session's cookie. With `__Host-` browsers refuse one that a subdomain set; the prefix needs
        TLS.
        """
        return "__Host-ws" if self.scheme == "https" else "ws"

"""What a server of the review app is told: its addresses and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from worksample.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class AppConfig:
    """Addresses as the browser sees them, and limits. `worksample serve` has an option for each address."""

    host: str = "ws.localhost"
    """The app's name. `v.HOST` and `*.c.HOST` must lead to the same server; browsers know `*.localhost` themselves."""
    port: int = 8765
    """As the browser sees it; behind a proxy the proxy's."""
    scheme: str = "http"
    """`https` where a proxy in front speaks TLS: cookies are then Secure and `__Host-`."""
    request_bytes: int = 4 << 20
    """Of a request's body."""
    import_bytes: int = 64 << 20
    """Of the body of an import of judgments."""
    body_seconds: float = 20
    """A request's body must have come by then; imports get six times as long."""
    head_seconds: float = 20
    """From a request's first byte, or from the connection's start, to the end of its headers."""
    logins_per_minute: int = 10
    """Wrong passwords and links per address and per name, in this process."""
    writes_per_minute: int = 600
    """Per session, in this process."""
    convert_parallel: int = 1
    """Conversions at once, each in a box."""
    judges: Path | None = None
    """A TOML file with `[judges.rubric]`, `[prices]` and `[services]` as in an experiment file: the model that suggests
    criteria to whoever writes rubrics. None: nobody suggests any."""
    static: Path = Path(__file__).parent / "static"
    """The built pages of `web/`, by default the package's own; another folder while they are worked on."""
    capability_hours: float = 12
    """An address of a deliverable is good for so long, and never longer than its session."""

    def __post_init__(self) -> None:
        if self.scheme not in ("http", "https"):
            raise UsageError(f"no such scheme: {self.scheme}", next="http or https")
        labels = self.host.split(".")
        if not all(label and label.replace("-", "").isalnum() and label.isascii() for label in labels):
            raise UsageError(f"no host name: {self.host!r}", next="a name such as review.example.org")
        if len(labels) < 2:
            # Browsers keep cookies of a bare name apart from its subdomains' too, but most resolvers know no v.NAME.
            raise UsageError(f"{self.host!r} can have no subdomains", next=f"ws.{self.host}")

    @property
    def netloc(self) -> str:
        """Host and port, without the scheme's own port."""
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
        """As a source of a content security policy."""
        return f"{self.scheme}://*.c.{self.netloc}"

    def content_origin(self, capability: str) -> str:
        """Where one deliverable is shown to one person."""
        return f"{self.scheme}://{capability}.c.{self.netloc}"

    @property
    def cookie(self) -> str:
        """`__Host-` makes browsers refuse one that a subdomain set; they take that name over TLS only."""
        return "__Host-ws" if self.scheme == "https" else "ws"

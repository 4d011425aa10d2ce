"""Pages of a static site: templates, one style sheet, one small script for tables, and no access to a network.

The script is part of the page. The page's security policy contains the digest of the script, so that no other script
runs, whatever the page contains.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from worksample import __version__
from worksample.errors import UsageError
from worksample.fault_injection import failpoint
from worksample.records import now
from worksample.reports.figure_formatting import figure
from worksample.tasks.taxonomy import title_of

if TYPE_CHECKING:
    import jinja2


class Pages:
    """A writer of pages into the folder `out`. `title` is the heading of all pages. `links` are the pages to which
    every page links. `app` is the address of the review app.
    """

    def __init__(
        self, out: Path, title: str, *, unsandboxed: bool = False, links: tuple[tuple[str, str], ...] = (),
        app: str = "",
    ) -> None:  # fmt: skip
        self.out = out
        self.templates = _templates()
        self.common = {
            "report_name": title,
            "title": title,
            "unsandboxed": unsandboxed,
            "version": __version__,
            "made": now().strftime("%Y-%m-%d %H:%M UTC"),
            "links": links,
            "app": app,
        }
        self.script = self._source("tables.js")
        self.allowed = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()

    def style(self) -> None:
        """Write the style sheet, and create its folder."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "style.css").write_text(self._source("style.css"), encoding="utf-8")

    def _source(self, name: str) -> str:
        return self.templates.loader.get_source(self.templates, name)[0]  # type: ignore[union-attr]

    def page(self, template: str, path: str, root: str, *, sortable: bool = False, **values: Any) -> None:
        """Write one page. `root` is the relative path from the page to the top of the site. `sortable` says whether to
        include the script for tables.
        """
        script = {"script": self.script, "allowed": self.allowed} if sortable else {"script": "", "allowed": ""}
        failpoint("report.page")
        text = self.templates.get_template(template).render(root=root, here=path, **self.common, **script, **values)
        target = self.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # An agent's text may contain lone surrogates after unquoting; a page must still be valid UTF-8.
        target.write_bytes(text.encode("utf-8", "replace"))


def address_of(app: str) -> str:
    """Return the origin of a review app, or "". Raises UsageError if the text is not an origin."""
    if not app:
        return ""
    try:
        parts = urlsplit(app)
        sound = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        sound = sound and parts.path in ("", "/") and not parts.username and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound:
        raise UsageError(
            f"{app!r} is not an address of a review app",
            next="worksample report --app https://review.example.org --out report",
        )
    return f"{parts.scheme}://{parts.netloc}"


def _templates() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("worksample.reports")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["figure"] = figure
    environment.filters["category"] = title_of
    return environment

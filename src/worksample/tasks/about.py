"""`[about]`: what is known of the work as work."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from worksample.errors import UsageError
from worksample.files.config_files import Day, Says, Texts, shown, told
from worksample.records import About, Hours, Source, Value
from worksample.tasks.taxonomy import lookup, suggest


def _category(text: str) -> str:
    if text:
        try:
            lookup(text)
        except UsageError:
            near = ", ".join(suggest(text)) or "an id of docs/taxonomy.md"
            raise told(f"there is no category {shown(text)}", near) from None
    return text


Where = Annotated[Source, Field(strict=False)]


class ValueTable(Value):
    """`value` in a file: the figures and the date are written as such, not as texts."""

    model_config = ConfigDict(strict=True)
    date: Day
    source: Where
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$"), Says("a code of three capitals, such as USD")] = "USD"


class HoursTable(Hours):
    """`hours` in a file."""

    model_config = ConfigDict(strict=True)
    date: Day
    source: Where


class AboutTable(About):
    """The table as it is written."""

    category: Annotated[str, AfterValidator(_category)] = ""
    occupation: Annotated[str, Field(pattern=r"^(\d{2}-\d{4})?$"), Says("a SOC 2018 code such as '13-2011'")] = ""
    value: ValueTable | None = None
    hours: HoursTable | None = None
    tier: Annotated[str, Field(pattern=r"^([a-z0-9][a-z0-9._-]*)?$"), Says("a name in lower case, such as 'easy'")] = ""
    tags: Texts = ()

    def record(self) -> About:
        """What is kept of it."""
        plain: dict[str, Any] = self.plain()
        return About.model_validate(plain)

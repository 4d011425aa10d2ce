"""The states of an assignment."""

LEASED = "leased"
DONE = "done"
EXPIRED = "expired"
"""Nothing was heard; the person may have it again where nobody else took it. So with `released`."""
RELEASED = "released"
SKIPPED = "skipped"
BARRED = "barred"
"""Never given to this person: judged in the round that is looked at."""
STRUCK = "struck"

RESUMABLE = (EXPIRED, RELEASED)

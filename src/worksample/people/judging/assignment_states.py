"""States of an item's assignment to a person."""

LEASED = "leased"
DONE = "done"
EXPIRED = "expired"
"""The lease expired; the person may get the item again if nobody else took it. The same holds for `released`."""
RELEASED = "released"
SKIPPED = "skipped"
BARRED = "barred"
"""Never offered to this person, who judged it in the reviewed round."""
STRUCK = "struck"

RESUMABLE = (EXPIRED, RELEASED)

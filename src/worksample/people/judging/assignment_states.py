"""States of an item's assignment to a person."""

LEASED = "leased"
DONE = "done"
EXPIRED = "expired"
"""State of an assignment whose lease has expired. The person may get the item again if nobody else has taken it. The
same holds for the state `released`.
"""
RELEASED = "released"
SKIPPED = "skipped"
BARRED = "barred"
"""State of an item that is never offered to this person, because the person judged the work in the reviewed round."""
STRUCK = "struck"

RESUMABLE = (EXPIRED, RELEASED)

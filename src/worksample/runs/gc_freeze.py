"""What stands before a run begins is not looked through for garbage while it lasts."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled() -> Iterator[None]:
    """Modules and schemas are some 400,000 objects, and each full collection holds all trials for as long as it takes
    to look at them. Who has set them aside already, such as a server that forks, keeps it that way."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

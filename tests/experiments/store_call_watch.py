"""The command line, telling of every store call on an event loop: `python -m experiments.store_call_watch ARGS`."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

from worksample.store.event_loop_warning import StoreCallOnLoop


def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, StoreCallOnLoop):
        print("ON LOOP", *traceback.format_stack(limit=7), file=sys.stderr)


def watch() -> None:
    from worksample.cli import main

    warnings.showwarning = show
    warnings.simplefilter("always", StoreCallOnLoop)
    main()


if __name__ == "__main__":
    watch()

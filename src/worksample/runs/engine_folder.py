"""Where Inspect keeps its traces and its buffer of samples, on a machine whose home takes nothing."""

from __future__ import annotations

import os

from worksample.sandboxes.host_state import runtime_folder


def need_engine_folder() -> None:
    """Lead Inspect to a folder of ours where the account's own cannot be made: a read-only home, or none.

    It has no setting for all of what it keeps there but this variable, and looks it up each time.
    """
    if not _writable():
        os.environ["XDG_DATA_HOME"] = str(runtime_folder() / "data")


def _writable() -> bool:
    from inspect_ai._util.appdirs import inspect_data_dir

    try:
        return all(os.access(inspect_data_dir(name), os.W_OK) for name in ("traces", "samplebuffer"))
    except OSError:
        return False

"""Reading what comes from outside: JSON under limits, and heavy work in processes of their own.

An agent, a model or a page may send anything. Its size is checked before it is parsed, its values and levels before
they are built. `json` and `pickle` hold the interpreter's lock, so that a thread would stop the event loop all the
same: what is large is read in another process (`Apart`), under limits of processor time and memory.
"""

from __future__ import annotations

from .apart import Apart, apart, close_apart
from .json_limits import JsonLimits, check_shape, count_values, read_json
from .parsing import parse_json

__all__ = ["Apart", "JsonLimits", "apart", "check_shape", "close_apart", "count_values", "parse_json", "read_json"]

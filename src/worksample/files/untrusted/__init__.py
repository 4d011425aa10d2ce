"""Reading what comes from outside: JSON under limits, and heavy work in processes of their own.

An agent, a model or a page may send anything. Its size is checked before it is parsed, its values and levels before
they are built. `json` and `pickle` hold the interpreter's lock, so that a thread would stop the event loop all the
same: what is large is read in another process (`Apart`), under limits of processor time and memory.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

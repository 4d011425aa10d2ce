"""Reading of untrusted input: JSON under limits, and heavy work in separate processes.

An agent, a model or a page may send anything. Its size is checked before it is parsed, its values and levels before
they are built. `json` and `pickle` hold the interpreter's lock, so a thread would still block the event loop: large
input is read in another process (`WorkerPool`), under limits of processor time and memory.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

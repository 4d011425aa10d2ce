"""Reading of untrusted input: JSON within limits, and expensive work in separate processes.

An agent, a model or a web page may send anything. The size of input is checked before it is parsed, and values and
levels before they are built. `json` and `pickle` hold the interpreter's lock, so a thread would still block the event
loop: large input is read in another process (`WorkerPool`), with limits on processor time and memory.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

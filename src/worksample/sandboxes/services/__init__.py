"""The services of a task: programs in separate boxes, which the agent's box reaches through endpoints.

`open_services` starts and ends the services. While a service runs, it is a target of endpoints and reports its own
unexpected end. Its state can be exported as evidence.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

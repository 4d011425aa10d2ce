"""A language-model service of our own on loopback: OpenAI's chat completions and Responses and
Anthropic's messages, with faults on demand."""

from .answers import Answer, Call, Fault, calls, says
from .judge import Judge, Seen, judged, read
from .server import Served, serving

__all__ = ["Answer", "Call", "Fault", "Judge", "Seen", "Served", "calls", "judged", "read", "says", "serving"]

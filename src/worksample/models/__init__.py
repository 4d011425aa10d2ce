"""The one seam to language models: names, prices, usage, what their failures mean, and judges that are asked."""

from .answer import Answer, Quote
from .asking import ask
from .closing import close_models
from .exhibit import Exhibit, ExhibitLimits, Look, Visibility
from .failure import Failure, failure_of
from .judge import JudgeConfig, Role, Roles, Spent, judges_of
from .price import Price, priced, read_prices, require_price
from .probe import Kind, Probe, checklist, choice, fields, pair, yes_no
from .resolve import Service, resolve
from .usage import plus, usage_of

__all__ = [
    "Answer",
    "Exhibit",
    "ExhibitLimits",
    "Failure",
    "JudgeConfig",
    "Kind",
    "Look",
    "Price",
    "Probe",
    "Quote",
    "Role",
    "Roles",
    "Service",
    "Spent",
    "Visibility",
    "ask",
    "checklist",
    "choice",
    "close_models",
    "failure_of",
    "fields",
    "judges_of",
    "pair",
    "plus",
    "priced",
    "read_prices",
    "require_price",
    "resolve",
    "usage_of",
    "yes_no",
]

from .availability import Availability as Availability
from .availability import available as available
from .availability import require_kind as require_kind
from .sweeper import sweep as sweep

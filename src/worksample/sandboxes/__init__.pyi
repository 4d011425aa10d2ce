from .availability import Availability as Availability
from .availability import available as available
from .availability import require_kind as require_kind
from .box_registry import installed_kinds as installed_kinds
from .box_registry import open_box as open_box
from .box_registry import start_box as start_box
from .orphan_sweeper import sweep as sweep

from .availability import Availability as Availability
from .availability import available as available
from .availability import need_box as need_box
from .sweeper import sweep as sweep

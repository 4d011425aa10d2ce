from .requirements import Availability as Availability
from .requirements import available as available
from .requirements import need_box as need_box
from .sweeper import sweep as sweep

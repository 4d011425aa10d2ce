from .json_limits import JsonLimits as JsonLimits
from .json_limits import check_shape as check_shape
from .json_limits import count_values as count_values
from .json_limits import read_json as read_json
from .worker_processes import Apart as Apart
from .worker_processes import apart as apart
from .worker_processes import close_apart as close_apart
from .worker_processes import parse_json as parse_json

from .json_limits import JsonLimits as JsonLimits
from .json_limits import check_shape as check_shape
from .json_limits import count_values as count_values
from .json_limits import read_json as read_json
from .reader_pool import WorkerPool as WorkerPool
from .reader_pool import close_shared_worker_pool as close_shared_worker_pool
from .reader_pool import parse_json as parse_json
from .reader_pool import shared_worker_pool as shared_worker_pool

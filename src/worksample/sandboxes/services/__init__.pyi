from .opened import TaskServices as TaskServices
from .opened import open_services as open_services
from .state_export import export as export

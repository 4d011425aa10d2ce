from .exporting import export as export
from .opened import TaskServices as TaskServices
from .opened import open_services as open_services

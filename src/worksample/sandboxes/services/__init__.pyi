from .state_export import export as export
from .trial_services import TaskServices as TaskServices
from .trial_services import open_services as open_services

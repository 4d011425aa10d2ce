from .state_export import export_state as export_state
from .trial_services import TrialServices as TrialServices
from .trial_services import open_services as open_services

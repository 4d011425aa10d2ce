from .agent_program import Npm as Npm
from .agent_program import Program as Program
from .agent_program import PyPI as PyPI
from .installed_programs import Installed as Installed
from .installed_programs import find_installed as find_installed
from .installed_programs import list_installed as list_installed
from .program_registry import find_program as find_program
from .program_registry import program_names as program_names

from .installed_programs import Installed as Installed
from .installed_programs import find as find
from .installed_programs import installed as installed
from .program import Npm as Npm
from .program import Program as Program
from .program import PyPI as PyPI
from .program_registry import named as named
from .program_registry import names as names

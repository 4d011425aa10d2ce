from .define import Npm as Npm
from .define import Program as Program
from .define import PyPI as PyPI
from .folder import Installed as Installed
from .folder import find as find
from .folder import installed as installed
from .registry import named as named
from .registry import names as names

from .port_import import ImportedTacTask as ImportedTacTask
from .port_import import import_tac as import_tac

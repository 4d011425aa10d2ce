from .importing import ImportedTacTask as ImportedTacTask
from .importing import import_tac as import_tac

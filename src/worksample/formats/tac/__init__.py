"""TheAgentCompany's tasks, from an installed `inspect_evals`: packages out of them, their own evaluators as graders."""

from .importing import Imported, import_tac

__all__ = ["Imported", "import_tac"]

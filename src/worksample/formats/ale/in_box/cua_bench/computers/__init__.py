"""The package's submodule that some helpers import for annotations."""

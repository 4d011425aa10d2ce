"""taxonomy."""

"""How a round goes, and how well its people judge."""

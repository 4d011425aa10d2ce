"""What work earns, costs and is worth."""

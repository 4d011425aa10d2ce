"""What runs in the services' box, with the standard library alone."""

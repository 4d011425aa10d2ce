"""Programs that run in the services' box, with the standard library alone."""

"""Programs that run inside the box, sent there as text: they import the standard library (and IPython) only."""

"""Places of people who work: what their events come to, and whose turn it is."""

"""Views of deliverables made in the background, so that pages open fast."""

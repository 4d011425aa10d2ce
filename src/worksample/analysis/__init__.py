"""What a study's text and traces say beyond its figures."""

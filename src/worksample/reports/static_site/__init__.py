"""The report as a static site: its pages and their content."""

"""The report as a static site: pages, and their content."""

"""The report as a static site: pages, and what stands on them."""

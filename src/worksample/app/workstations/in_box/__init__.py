"""Programs that run in a person's box under a bare interpreter. They import only the standard library."""

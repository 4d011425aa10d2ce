"""Programs that run in the box of the services. They import only the standard library."""

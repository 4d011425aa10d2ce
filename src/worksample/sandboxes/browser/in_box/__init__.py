"""What drives the browser, in a box of its own."""

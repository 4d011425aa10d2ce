"""The browser's driver, a program that runs in a box of its own."""

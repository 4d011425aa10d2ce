"""The browser's driver, a program that runs in a box separate from the agent's box."""

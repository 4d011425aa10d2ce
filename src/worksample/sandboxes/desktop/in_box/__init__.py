"""Programs that run in the boxes of a desktop and of its agent."""

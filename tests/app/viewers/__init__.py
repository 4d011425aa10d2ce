"""The viewers in Chromium. A package, so that one browser and one server last for all of its modules."""

"""The platform killed in the middle of whatever it can be doing, and what is left of it once the next one has begun."""

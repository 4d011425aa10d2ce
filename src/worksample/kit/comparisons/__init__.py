"""How a part of the work is compared: each mode in a module of its own name, which imports what it alone needs."""

"""Attempts to get out of a box. Each is a function that tells whether it succeeded, tried in a box and, as a control,
where nothing protects: an attack that fails without protection too proves nothing about the box."""

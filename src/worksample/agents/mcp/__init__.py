"""Tools that a task brings, by the Model Context Protocol: given to our harnesses and to programs in the box."""

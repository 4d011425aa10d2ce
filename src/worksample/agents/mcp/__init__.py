"""Tools that a task offers by the Model Context Protocol, for our harnesses and for programs in the box."""

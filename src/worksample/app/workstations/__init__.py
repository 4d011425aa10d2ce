"""Where people work: the box of a place, its terminal and its files, while somebody sits there."""

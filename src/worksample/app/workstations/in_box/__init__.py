"""What runs in the box of a person who works, by a bare interpreter: it imports the standard library only."""

"""What people's votes come to, and how far they agree."""

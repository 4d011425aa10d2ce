"""Makes Quaymark's documents: python -m tools.quaymark [--check]"""

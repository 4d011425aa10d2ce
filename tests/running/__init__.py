"""How tests are run: profiles, shards, what each needs of the machine, counts, skips."""

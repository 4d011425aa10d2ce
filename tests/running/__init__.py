"""How tests are run: profiles, shards, what each needs of the machine, what runs alone, counts, skips."""

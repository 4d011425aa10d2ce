"""How tests are run: profiles and shards, what each test needs, what runs alone, how many there are, what may be skipped."""

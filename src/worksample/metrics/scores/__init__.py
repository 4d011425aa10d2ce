"""Success rates and mean scores: by tier and category, from checkpoints and criteria, and averaged level by level."""

"""Success and score: rates and means, by tier and category, by checkpoint and criterion, rolled up."""

"""Quality of a round: progress, agreement, gold items, disagreements, flags."""

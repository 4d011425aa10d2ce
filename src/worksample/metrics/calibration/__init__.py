"""Figures from a judge's answers and few people's labels: corrected estimates, proof, bias, drawing the sample."""

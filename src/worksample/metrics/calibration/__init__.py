"""Figures from a judge's answers and a few labels by people: corrected estimates, proof, bias, drawing the sample."""

"""Figures from a judge's answers and a small number of people's labels: corrected estimates, proof of the judge, tests
for bias, and drawing the sample.
"""

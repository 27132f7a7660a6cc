"""A case whose claim no backend decides soon."""

HARD = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "1/2 + (p*q + 1/8)/40", y = "1/2 - (p*q + 1/8)/40" }
b = { x = "1/2 + (p**4 + q**4 + 13/50)/40", y = "1/2 - (p**4 + q**4 + 13/50)/40" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = "(1/2 + (p**4 + q**4 + 13/50)/40)/(1/2 + (p*q + 1/8)/40)"
"""

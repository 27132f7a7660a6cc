"""Markov chains and Markov decision processes with labels, state variables and neighbours."""

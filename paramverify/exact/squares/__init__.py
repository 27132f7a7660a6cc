"""Sums of squares: semidefinite programs find them in floats, exact arithmetic makes them proofs."""

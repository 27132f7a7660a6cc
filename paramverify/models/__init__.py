"""Models: finite priors and secrets, hidden Markov models, and the mechanism library."""

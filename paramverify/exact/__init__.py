"""The built-in exact procedures: branching, lines, touching zeros, and what they share."""

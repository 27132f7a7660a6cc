"""Scripts of SMT-LIB about reals: their questions are decided by claims, and by solvers that read scripts."""

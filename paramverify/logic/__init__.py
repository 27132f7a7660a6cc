"""dpCTL*: model checking of privacy properties on Markov chains and decision processes."""

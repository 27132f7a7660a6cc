"""Programs: mechanisms that users write, run exactly on sets of random values."""

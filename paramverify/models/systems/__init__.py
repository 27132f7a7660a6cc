"""Interactive systems: probabilistic labelled transition systems with data points, queries and responses ([T])."""

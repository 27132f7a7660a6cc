"""Interactive systems: labelled transition systems with data points, queries and responses ([T])."""

"""Report pages: one HTML file about one or more cases, that needs nothing else to be read and checked."""

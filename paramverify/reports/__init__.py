"""Reports: sentences for the terminal, JSON documents, formulas and graphs."""

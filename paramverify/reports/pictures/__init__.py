"""Pictures: regions and intervals, curves, comparisons by matplotlib; models and systems as DOT."""

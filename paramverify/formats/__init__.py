"""Formats: claims as other programs read them, and the way back from what these answer."""

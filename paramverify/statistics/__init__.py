"""Tests by sampling: what they find is evidence or a candidate, never a proof (extra `stats`)."""

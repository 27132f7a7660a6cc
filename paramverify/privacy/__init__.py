"""The first subject: privacy of mechanisms, and inequalities: cases, and how they get their verdicts."""

"""Running backends on claims: killable attempts, limits, races, and agreement between backends."""

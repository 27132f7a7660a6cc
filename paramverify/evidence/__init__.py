"""Evidence: witnesses and certificates, and a checker that trusts none of the rest."""

"""How many forms of secrets are marked: a list of published forms, and the measurement."""

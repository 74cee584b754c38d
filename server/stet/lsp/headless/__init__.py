"""The headless client, which the command line uses in place of an editor."""

"""Knowledge of the workspace: what its files link to, and the properties of its notes."""

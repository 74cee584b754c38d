"""The agents that are known to `stet agents`, and what Stet writes into their settings."""

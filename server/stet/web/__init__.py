"""Search APIs and pages: the web as a tool may use it."""

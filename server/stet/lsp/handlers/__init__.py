"""One file for each group of requests; none knows another."""

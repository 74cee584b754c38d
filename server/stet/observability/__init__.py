"""The log and the reports of failures: where they are written, and what they may contain."""

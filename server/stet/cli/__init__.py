"""The shell: argument parsing, the headless client, demo and doctor."""

"""The protocol: pygls and lsprotocol are imported here and nowhere else."""

"""What the user may set: frozen values every layer may read, and how they are read and merged."""

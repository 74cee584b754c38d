"""The wire: framing, the framework's server as we need it, standard streams, the parent's life."""

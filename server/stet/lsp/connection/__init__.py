"""The connection to the editor: messages, the framework's server, standard streams, the life of the process."""

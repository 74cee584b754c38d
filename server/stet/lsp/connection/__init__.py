"""The connection to the editor: messages, the framework's server, standard streams, the process's
end.
"""

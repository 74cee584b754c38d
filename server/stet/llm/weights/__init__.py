"""The weights of local models: which there are, how they are downloaded, what a file says of itself."""

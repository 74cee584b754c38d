"""What outlives the process: the database of hunks, chats, attachments and requests."""

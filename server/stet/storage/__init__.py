"""Persistent state: the database of hunks, chats, attachments and requests."""

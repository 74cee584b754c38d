"""What is left behind when something fails inside Stet: a report that a user can pass on."""

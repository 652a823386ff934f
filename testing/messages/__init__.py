"""What messages are tested with: a mail server, and the rules of CAP."""

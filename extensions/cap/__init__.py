"""Changes of alerts for machines of others: messages of the Common Alerting Protocol, and Atom feeds."""

"""Life as it would be: a server of this machine that answers as the outside services do."""

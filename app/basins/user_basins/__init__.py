"""User basins: registering them, and uploading their observations."""

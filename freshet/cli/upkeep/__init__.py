"""Commands about the database and the installation."""

"""Attribution of changes and errors to causes."""

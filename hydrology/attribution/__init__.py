"""Attribution of changes between forecasts, and of their errors, to causes."""

"""When an alert begins, changes and ends, from the chances of successive forecasts."""

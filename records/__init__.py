"""Settings, the clock, all stored data, and the only place where SQL is written.

A repository function takes a `Session` first and never commits: the caller owns the transaction, which
`engine.Database.transaction()` opens. Days are `hydrology.base.calendar.Day`, instants are aware datetimes in UTC.
"""

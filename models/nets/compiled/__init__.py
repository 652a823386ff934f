"""The recurrence of MC-LSTM in C++: a library for each kind of processor, built when Freshet is installed."""

"""The recurrence of MC-LSTM in C++. A library for each kind of processor, built when Freshet is installed."""

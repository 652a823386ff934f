"""The recurrence of MC-LSTM in C++, compiled for the processor at hand when it is first needed."""

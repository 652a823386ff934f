"""The water balance: ledger, storage, age, recession, assimilation."""

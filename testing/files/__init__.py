"""Small input files as their publishers write them."""

"""Every free text that somebody sends is printable: no request can hide, reverse or join what readers see."""

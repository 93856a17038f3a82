"""Recognise files that were written for another program or another option."""

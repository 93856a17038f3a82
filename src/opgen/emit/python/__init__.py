"""The Python module: tables of signatures, stub files, documentation."""

"""Reports of a verification: for people, for programs, for CI."""

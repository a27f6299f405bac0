"""Other people's queries: the 22 of TPC-H, which ask for none of what Joinery is for."""

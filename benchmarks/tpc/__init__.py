"""Other people's queries: those of TPC-H and TPC-DS, which ask for none of what Joinery is for."""

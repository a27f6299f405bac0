"""Runtime filters: a selective side of a join filters the other before it is shuffled."""

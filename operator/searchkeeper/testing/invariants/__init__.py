"""What no write of the operator may do, as functions of the states before and after the write."""

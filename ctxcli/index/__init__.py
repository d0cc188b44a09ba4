"""Search engines behind one port."""

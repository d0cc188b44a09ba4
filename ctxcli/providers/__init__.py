"""Models behind the ports; each is imported when it is first used."""

"""The command line: parses, calls one service, shows; decides nothing."""

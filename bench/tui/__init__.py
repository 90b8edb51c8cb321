"""How soon the terminal UI answers a key, whatever it has to show meanwhile."""

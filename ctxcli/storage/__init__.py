"""The user's files: written, locked, walked; and what is kept about them."""

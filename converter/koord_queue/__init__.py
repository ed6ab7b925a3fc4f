"""What is read from Koord-Queue's objects; imports nothing of the rooms that use it."""

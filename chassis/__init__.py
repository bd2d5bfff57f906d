"""What every service does the same way, one concern a file.

A module enters only if two services use it today, it would make sense in a mesh about something
else, its name is the concern, and it imports neither a service nor a contract.
"""

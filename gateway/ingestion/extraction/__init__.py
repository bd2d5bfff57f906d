"""Reads files of many types into blocks in reading order, in processes that may be killed."""

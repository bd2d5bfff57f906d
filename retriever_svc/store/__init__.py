"""What changes of a workspace mean, whichever database keeps it: rules over the store's tables."""

"""Chat models behind one protocol: one file a vendor, and a chain that falls back."""

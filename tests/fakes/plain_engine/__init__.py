"""A second engine behind the seam: everything in memory, searched by brute force.

It shares with the embedded engine what the seam itself is made of (requests, rules, fusion), and
nothing of how that one stores, indexes or searches.
"""

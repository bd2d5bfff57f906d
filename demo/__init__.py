"""The knowledge base of an invented trading company, and the builder of its binary documents."""

"""Switches that act without a restart, kept in the table pb_ai_config."""

"""Spans of OpenTelemetry: none is made unless their export is configured."""

"""Re-runnable measurements, each printed as ratios against something measured in the same run."""

"""Measurements as ratios in one run: CPU time, unrepeated code, results compared before anything is timed."""

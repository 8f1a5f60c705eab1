"""Coverage-guided fuzzing of the readers; see docs/fuzzing.md."""

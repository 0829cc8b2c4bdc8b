"""YAML and JSON as text: parsed as opm parses them, or glanced at where a parser would cost too much."""

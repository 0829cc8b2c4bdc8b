"""releases.yaml as a file: parsing with positions, formatting, and edits that keep comments."""

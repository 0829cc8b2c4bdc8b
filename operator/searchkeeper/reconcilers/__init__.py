"""Configuration versions: what each deploys, and how it takes over from the one before."""

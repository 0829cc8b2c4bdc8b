"""Use cases of a project with a releases.yaml: generate, check, release, init."""

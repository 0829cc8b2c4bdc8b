"""releases.yaml as text: read with places, written anew, and edited in place."""

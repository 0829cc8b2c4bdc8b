"""Container images as data: made, kept, sent and unpacked without a container engine."""

"""Container images without a container engine: build, read, write, push, pull and unpack."""

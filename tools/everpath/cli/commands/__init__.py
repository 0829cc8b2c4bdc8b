"""The commands: each module parses the options of one, calls its use case in `everpath.app`, and reports."""

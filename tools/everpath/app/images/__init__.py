"""Use cases of images: build, push and pull bundles and catalogs."""

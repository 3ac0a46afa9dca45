"""The arithmetic ladder: small transformers that learn, or never learn, to add and to multiply."""

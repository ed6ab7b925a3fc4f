"""What converter.yaml and the values of charts/campaign-queue both say: written, and compared."""

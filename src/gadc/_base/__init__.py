"""What every layer needs: checks on input, node pairs as numbers, files, results kept for a while."""

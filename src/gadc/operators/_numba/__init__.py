"""The products on the CPU, compiled by Numba."""

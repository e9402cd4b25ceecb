"""The paper: graph -> transition -> series -> polynomial -> diffuse; denoising and theory."""

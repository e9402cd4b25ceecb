"""Writers under faults: killed at random moments, on a full disk, and several at once."""

//! The suite that any implementation of the storage port runs.

"""Automata over streams: noisy thresholds that are kept, and privacy for streams of every length."""

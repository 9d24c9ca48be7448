"""Hyoka."""

"""Verification, as programs import it: `verify` decides a case and returns its `Report`."""

from paramverify.privacy.verification import Report, verify

__all__ = ["Report", "verify"]

"""Settings of all tests."""

from hypothesis import settings

# Busy machines exceed every time limit.
settings.register_profile("sealcomb", settings(), deadline=None)
settings.load_profile("sealcomb")

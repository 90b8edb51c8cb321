"""Questions to the person, each on a small screen above the rest: yes or no, a text, one of many.

The main screen is above it, and waits for the answers.
Nothing of Pisces is below but `render`, which makes what others have named harmless.
"""

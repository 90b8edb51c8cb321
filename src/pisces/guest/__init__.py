"""The code that runs inside the user's interpreter: standard library only, Python 3.9 and newer.

The host starts `__main__.py` there and speaks to it over descriptors of its own; nothing in Pisces imports this
package, and it imports nothing of Pisces. It calls itself `_pisces_guest`, so that its module names can never stand
in front of the user's.
"""

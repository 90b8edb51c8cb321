"""A field of one line, and keys that are taken in the order in which they were pressed."""

from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input


class LineInput(Input):
    """Takes its keys in order."""

    async def _on_key(self, event: Key) -> None:
        if await did_at_once(self, event.key):
            event.stop()
            event.prevent_default()


async def did_at_once(field: Widget, key: str) -> bool:
    """Do what a key is bound to in a field; whether it is bound.

    The toolkit has letters typed in the field itself, and sends all other keys to the app first: one that is pressed
    right before a letter, or while the screen is busy, would come after it.
    """
    for binding in field._bindings.key_to_bindings.get(key, ()):
        if not binding.priority and await field.app.run_action(binding.action, field):
            return True
    return False

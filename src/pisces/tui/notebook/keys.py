"""The keys of the notebook: those of Jupyter's command mode, and others where terminals do not send them."""

from typing import Final

from textual.binding import Binding, BindingType

BINDINGS_OF_NOTEBOOK: Final[list[BindingType]] = [
    Binding("down,j", "choose(1)", "Next", show=False),
    Binding("up,k", "choose(-1)", "Previous", show=False),
    Binding("home,g", "end(False)", "First", show=False),
    Binding("end,G", "end(True)", "Last", show=False),
    Binding("pagedown,space", "page(1)", "Page", show=False),
    Binding("pageup", "page(-1)", "Back", show=False),
    Binding("enter,i", "edit", "Edit"),
    Binding("escape", "leave", "Back", show=False),
    Binding("ctrl+enter,f5,r", "run", "Run"),
    Binding("shift+enter,R", "run_on", "Run, go on", show=False),
    Binding("A", "run_all", "Run all", show=False),
    Binding("U", "run_until", "Run until here", show=False),
    Binding("ctrl+c", "interrupt", "Stop", priority=True),
    Binding("a", "insert(0)", "Insert above", show=False),
    Binding("b", "insert(1)", "Insert below", show=False),
    Binding("d", "d", "Delete (twice)", show=False),
    Binding("delete", "delete", "Delete", show=False),
    Binding("z", "undo", "Take back", show=False),
    Binding("ctrl+up,K", "move(-1)", "Move up", show=False),
    Binding("ctrl+down,J", "move(1)", "Move down", show=False),
    Binding("m", "retype('markdown')", "Markdown", show=False),
    Binding("y", "retype('code')", "Code", show=False),
    Binding("C", "clear", "Clear outputs", show=False),
    Binding("1", "settle(True)", "Keep mine", show=False),
    Binding("2", "settle(False)", "Take theirs", show=False),
    Binding("o", "output", "Whole output", show=False),
    Binding("ctrl+o,x", "expand", "Expand", show=False),
    Binding("ctrl+s", "save", "Save", priority=True),
    Binding("f1,h,question_mark", "help", "Help"),
    Binding("q", "go", "Back"),
]

HELP: Final = """\
Choosing
  Up Down, k j          the cell before, the next one
  Home End, g G         the first, the last
  PageUp PageDown       a screenful
  Ctrl+O, x             show all of the outputs of the chosen cell, or their beginnings
  o                     the whole output in the pager

Editing
  Enter, i              edit the source; Esc ends that and keeps the text, unsaved
  Ctrl+S                save: only the cells that were changed are written
  1 and 2               where somebody else has changed the same cell: keep your text, or take theirs

Running, in the session in sight; what was edited is saved first
  r, F5, Ctrl+Enter     run the cell
  R, Shift+Enter        run it and go on to the next one
  A                     run all
  U                     run all until this one, it included
  Ctrl+C                stop

Cells; these changes are in the file at once
  a, b                  a new cell above, below
  d d, Delete           delete
  J K, Ctrl+Down Ctrl+Up   move down, up
  m, y                  make it markdown, code
  C                     clear its outputs
  z                     take the last of these changes back

  q, Esc                back; asks when something is not saved
"""

"""What is said of a run of cells of a notebook, beside what the cells said themselves."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import asdict

from pisces.model.cells import CellRecord
from pisces.model.notebooks import NotebookRunDetails
from pisces.model.results import Details
from pisces.notebooks.outputs_writer import OutputsWriter
from pisces.notebooks.run_plan import MAY_FAIL, RunPlan
from pisces.sessions.report import RunReport
from pisces.tools.notebook_params import NotebookParams

_NAMED: Final = 20
"""How many cells a sentence names: the details have all of them."""


class RunWords:
    """Filled in while the call goes on; then it has the sentences and the details."""

    def __init__(self, params: NotebookParams, plan: RunPlan, total_cells: int) -> None:
        self.plan = plan
        self.moved = ""
        """The folder that the session was sent to for this run, if it was another one before."""
        self._params = params
        self._total = total_cells
        self._lost: list[int] = []
        self._failure = ""

    def take_trouble(self, writer: OutputsWriter) -> None:
        """What could not be put into the notebook."""
        self._lost = sorted(self._place(index) for index in writer.lost)
        self._failure = "" if writer.failure is None else writer.failure.explain()

    def closing(self, report: RunReport) -> list[str]:
        """What failed, what was not run, and where the outputs are."""
        state = [*self._failed(report), *self._lost_cells(report), *self._not_run(), *self._skipped()]
        return [*state, *self._where(), *self._folder()]

    def nothing_to_run(self) -> list[str]:
        """What to say where no cell was there to be run."""
        return ["There is no code to run.", *self._skipped()]

    def details(self, run: Details) -> NotebookRunDetails:
        """The details of the run, and those of the notebook."""
        details = NotebookRunDetails(
            **asdict(run),
            action=self._params.action,
            notebook_path=self._params.notebook_path,
            total_cells=self._total,
            ran=[self._place(record.index) for record in self.plan.records if record.status != "pending"],
            not_run=[self._place(record.index) for record in self._pending()],
            skipped=self.plan.skipped,
            written=not self._lost and not self._failure,
        )
        details.is_error = run.is_error or not details.written
        return details

    def _failed(self, report: RunReport) -> list[str]:
        failed = [record for record in report.records if record.status == "error"]
        expected = [record for record in failed if record.index in report.expected]
        others = [record for record in failed if record.index not in report.expected]
        sentences = [f"{_capital(record.called)} failed (exit code {record.exit_code})." for record in others[:_NAMED]]
        if len(others) > _NAMED:
            sentences.append(f"{len(others) - _NAMED} more failed.")
        if expected:
            sentences.append(f"Failed as expected ({MAY_FAIL}): {_names(expected)}.")
        return sentences

    def _lost_cells(self, report: RunReport) -> list[str]:
        lost = [record for record in report.records if record.index in report.lost_cells and record.status != "error"]
        return [f"What these cells did is lost too: run them again: {_names(lost)}."] if lost else []

    def _not_run(self) -> list[str]:
        pending = self._pending()
        return [f"Not run: {_names(pending)}."] if pending else []

    def _skipped(self) -> list[str]:
        skipped = [f"cell {place} ({why})" for place, why in self.plan.skipped.items()]
        return [f"Skipped: {_listed(skipped)}."] if skipped else []

    def _where(self) -> list[str]:
        if self._failure:
            return [f"The outputs could not be written to {self._params.notebook_path}: {self._failure}"]
        if self._lost:
            lost = _listed([f"cell {place}" for place in self._lost])
            why = "which somebody changed or removed while it ran"
            return [f"Not written to {self._params.notebook_path}: the outputs of {lost}, {why}."]
        ran = [record for record in self.plan.records if record.status != "pending"]
        if not ran:
            return []
        cells = "1 cell" if len(ran) == 1 else f"{len(ran)} cells"
        return [f"Ran {cells}; the outputs are in {self._params.notebook_path}."]

    def _folder(self) -> list[str]:
        return [f"The session works in {self.moved} from now on."] if self.moved else []

    def _pending(self) -> list[CellRecord]:
        return [record for record in self.plan.records if record.status == "pending"]

    def _place(self, index: int) -> int:
        return self.plan.cells[index].index


def _names(records: Sequence[CellRecord]) -> str:
    return _listed([record.called for record in records])


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {more} more"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]

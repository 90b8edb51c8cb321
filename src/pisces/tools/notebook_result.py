"""What is said of a run of cells of a notebook, beside what the cells said themselves."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import asdict

from pisces.model.cells import CellRecord
from pisces.model.notebooks import NotebookRunDetails
from pisces.model.results import Details
from pisces.notebooks.outputs_writer import OutputsWriter
from pisces.notebooks.run_plan import MAY_FAIL, RunPlan
from pisces.output.notice import listed
from pisces.sessions.report import RunReport
from pisces.tools.notebook_params import NotebookParams
from pisces.tools.python_result import how_it_failed

_NAMED: Final = 20
"""How many cells a sentence names: the details have all of them."""


class RunWords:
    """Filled in while the call goes on; then it has the sentences and the details."""

    def __init__(self, params: NotebookParams, plan: RunPlan, total_cells: int) -> None:
        self.plan = plan
        self.moved = ""
        """The folder that the session was sent to for this run, if it was another one before."""
        self.session = ""
        """The session that the cells run in."""
        self.overwritten: list[str] = []
        """The variables of the session that the cells changed or deleted, and that did not come from the notebook."""
        self.left_alone = ""
        """The session that the caller meant, where the cells run from scratch in one beside it."""
        self.has_left_alone = False
        """Whether there is that session."""
        self._params = params
        self._total = total_cells
        self._unwritten: list[int] = []
        self._run_by_others: list[int] = []
        self._failure = ""

    def take_trouble(self, writer: OutputsWriter) -> None:
        """What could not be put into the notebook."""
        self._unwritten = sorted(map(self._place, writer.unwritten))
        self._run_by_others = sorted(map(self._place, writer.run_by_others))
        self._failure = "" if writer.failure is None else writer.failure.explain()

    def closing(self, report: RunReport) -> list[str]:
        """What failed, what was not run, and where the outputs are."""
        state = [*self._failed(report), *self._lost_cells(report), *self._not_run(), *self._skipped()]
        return [*state, *self._overwrote(report), *self._where(), *self._folder(), *self._clean_run(report)]

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
            overwritten=self.overwritten,
            written=not self._unwritten and not self._failure,
            unwritten=self._unwritten,
        )
        details.is_error = run.is_error or not details.written
        return details

    def _failed(self, report: RunReport) -> list[str]:
        failed = [record for record in report.records if record.status == "error"]
        expected = [record for record in failed if record.index in report.expected]
        others = [record for record in failed if record.index not in report.expected]
        sentences = [f"{_capital(record.called)} {how_it_failed(record)}." for record in others[:_NAMED]]
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
        path = self._params.notebook_path
        if self._failure:
            which = f" of {_cells(self._unwritten)}" if self._unwritten else ""
            return [f"The outputs{which} could not be written to {path}: {self._failure}"]
        missing = {
            "which somebody changed or removed while it ran": sorted({*self._unwritten} - {*self._run_by_others}),
            "which somebody has run again since": self._run_by_others,
        }
        if self._unwritten:
            return [
                f"Not written to {path}: the outputs of {_cells(places)}, {why}."
                for why, places in missing.items()
                if places
            ]
        ran = [record for record in self.plan.records if record.status != "pending"]
        if not ran:
            return []
        cells = "1 cell" if len(ran) == 1 else f"{len(ran)} cells"
        return [f"Ran {cells}; the outputs are in {path}."]

    def _folder(self) -> list[str]:
        return [f"The session works in {self.moved} from now on."] if self.moved else []

    def _overwrote(self, report: RunReport) -> list[str]:
        if not self.overwritten:
            return []
        names = _listed(self.overwritten)
        more = " There may be more." if report.may_have_overwritten_more else ""
        return [f"Changed or deleted variables that session {self.session!r} had before: {names}.{more}"]

    def _clean_run(self, report: RunReport) -> list[str]:
        if not self.left_alone or all(record.status == "pending" for record in report.records):
            return []
        beside = f"; session {self.left_alone!r} is as it was" if self.has_left_alone else ""
        text = f"Ran in session {self.session!r}, with a fresh kernel{beside}."
        if report.dropped is not None:
            steps = report.dropped.undo_steps
            way_back = f"; undo there with steps: {steps} takes that back" if steps else ""
            text += f" What an earlier run had left in {self.session!r} was dropped{way_back}."
        elif self.session != f"{self.left_alone}-clean":
            text += (
                f" Session '{self.left_alone}-clean' holds other work and was left alone: close it if it is not needed."
            )
        return [text]

    def _pending(self) -> list[CellRecord]:
        return [record for record in self.plan.records if record.status == "pending"]

    def _place(self, index: int) -> int:
        return self.plan.cells[index].index


def _names(records: Sequence[CellRecord]) -> str:
    return _listed([record.called for record in records])


def _cells(places: Sequence[int]) -> str:
    return _listed([f"cell {place}" for place in places])


def _listed(names: Sequence[str]) -> str:
    return listed(names, _NAMED)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]

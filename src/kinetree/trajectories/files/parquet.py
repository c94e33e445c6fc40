"""Trajectories as Parquet, with pyarrow: the extra ``parquet``."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.trajectories.block import BLOCK
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.files.happened import NUMBERS, TEXTS
from kinetree.trajectories.files.limits import check_size
from kinetree.validation import Array

KEY = b"kinetree"
"""In the file's metadata: what of the trajectory is no column, as JSON."""


def check_installed() -> None:
    """Raise `ArgumentError` where pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ArgumentError("a Parquet file needs pyarrow: pip install pyarrow")


def write(stream: BinaryIO, arrays: Mapping[str, Any], coordinates: Coordinates) -> None:
    """Write the arrays of a trajectory: a column an entry, a row a sample, one robot of a batch after the other."""
    import pyarrow
    from pyarrow import parquet

    t, q = arrays["t"], arrays["q"]
    lead, robots = q.shape[:-2], math.prod(q.shape[:-2])
    columns: dict[str, Any] = {"robot": np.repeat(np.arange(robots), len(t))} if lead else {}
    columns["t"] = np.tile(t, robots)
    for x in ("q", "v", "a", "tau"):
        if x in arrays:
            table = arrays[x].reshape(robots * len(t), -1)
            columns |= {coordinates.call((x, k)): table[:, k] for k in range(table.shape[1])}
    stopped = arrays["stopped_at"].ravel()
    rest = {
        "batch_shape": lead,
        "stopped_at": [None if math.isnan(x) else x for x in stopped.tolist()],
        "reasons": arrays["reasons"].ravel().tolist(),
        "happened": {x: arrays[x].tolist() for x in (*TEXTS, *NUMBERS) if x in arrays},
    }
    made = pyarrow.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
    parquet.write_table(made.replace_schema_metadata({KEY: json.dumps(rest)}), stream)


def read(stream: BinaryIO, name: str, coordinates: Coordinates) -> dict[str, Any]:
    """Return the arrays of a trajectory, as `write` was given them."""
    check_installed()
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(stream)
        held = file.schema_arrow
        rest = json.loads((held.metadata or {}).get(KEY, b"{}"))
        rows = file.metadata.num_rows
    except Exception as error:  # pyarrow has many types for a damaged file
        raise FormatError(f"{name}: not a readable Parquet file: {error}") from None
    wanted = {x: [coordinates.call(slot) for slot in coordinates.slots((x,))] for x in ("t", "q", "v", "a", "tau")}
    columns = {x: names for x, names in wanted.items() if set(names) & set(held.names)}
    names = [column for group in columns.values() for column in group]
    _check_columns(name, names, held)
    check_size(name, stream, 8 * rows * (len(names) + 1))
    try:
        table = file.read(columns=names)
        flat = {column: table.column(column).to_numpy().astype(np.float64) for column in names}
    except Exception as error:
        raise FormatError(f"{name}: not a readable Parquet file: {error}") from None
    lead, extra = _rest(name, rest, rows)
    n = rows // max(1, math.prod(lead))
    arrays: dict[str, Any] = {
        x: np.stack([flat[column] for column in group], axis=-1).reshape(*lead, n, len(group))
        for x, group in columns.items()
        if group
    }
    if "t" in arrays:
        every: Array = arrays["t"].reshape(-1, n)
        if (every != every[:1]).any():
            raise FormatError(f"{name}: the robots of a batch have the same times; these differ")
        arrays["t"] = every[0]
    return arrays | extra


class Numbers:
    """The columns of a file that hold numbers, whatever they are called, read some rows at a time.

    Attributes
    ----------
    names : list of str
    done : float
        Which part has been read.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        check_installed()
        from pyarrow import parquet

        self._name, self.done = name, 0.0
        try:
            self._file = parquet.ParquetFile(stream)
            held = self._file.schema_arrow
            self.names = [x.name for x in held if _is_numeric(str(x.type)) and held.names.count(x.name) == 1]
            check_size(name, stream, 8 * self._file.metadata.num_rows * len(self.names))
        except FormatError:
            raise
        except Exception as error:  # pyarrow has many types for a damaged file
            raise FormatError(f"{name}: not a readable Parquet file: {error}") from None

    def blocks(self, names: list[str]) -> Iterator[Mapping[str, Array]]:
        """Yield these columns, NaN where there is no number."""
        try:
            every = (
                batch
                for group in range(self._file.num_row_groups)  # one at a time: it keeps what it has read
                for batch in self._file.iter_batches(BLOCK, row_groups=[group], columns=names)
            )
            for batch in every:
                self.done += len(batch) / self._file.metadata.num_rows
                yield {x: np.asarray(batch.column(x).to_numpy(zero_copy_only=False), np.float64) for x in names}
        except Exception as error:
            raise FormatError(f"{self._name}: not a readable Parquet file: {error}") from None


def _is_numeric(kind: str) -> bool:
    return kind in ("double", "float") or kind.lstrip("u").startswith("int")


def _check_columns(name: str, names: list[str], held: Any) -> None:
    """Raise `FormatError` unless there is each of these columns once, with numbers in it."""
    missing = [column for column in names if column not in held.names]
    if missing:
        raise FormatError(f"{name}: there is no column {some(missing, 4)}; the file has {some(held.names)}")
    for column in names:
        if held.names.count(column) > 1:
            raise FormatError(f"{name}: there are two columns {column!r}")
        kind = str(held.field(column).type)
        if not _is_numeric(kind):
            raise FormatError(f"{name}: the column {column!r} has the type {kind}: expected real numbers")


def _numbers(nested: Any) -> Any:
    """Return an array of whole numbers or floats."""
    array = np.array(nested)
    return array if array.dtype.kind == "i" else array.astype(np.float64)


def _rest(name: str, rest: Any, rows: int) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Return the batch axes, and what else the metadata say; a file of somebody else's has one robot."""
    try:
        lead = tuple(rest.get("batch_shape", ()))
        robots = math.prod(lead)
        if not all(type(x) is int and x > 0 for x in lead) or rows % robots or len(lead) > 32:
            raise ValueError(f"{rows} rows of a batch {lead}")
        extra: dict[str, Any] = {}
        if "stopped_at" in rest:
            stopped = [math.nan if x is None else float(x) for x in rest["stopped_at"]]
            extra["stopped_at"] = np.array(stopped, dtype=np.float64).reshape(lead)
        if "reasons" in rest:
            extra["reasons"] = np.array([str(x) for x in rest["reasons"]], dtype=np.str_).reshape(lead)
        happened = rest.get("happened", {})
        extra |= {x: np.array(happened[x], dtype=np.str_) for x in TEXTS if x in happened}
        extra |= {x: _numbers(happened[x]) for x in NUMBERS if x in happened}
    except (TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{name}: its metadata {KEY.decode()!r} are not those of a trajectory: {error}") from None
    return lead, extra

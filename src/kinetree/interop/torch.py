"""Compiled functions as PyTorch's: one operator, in a `torch.autograd.Function` whose derivatives are calls of itself.

Tensors are not copied: kernels read and write their memory.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from kinetree.errors import ArgumentError
from kinetree.interop.operation import Operation, bound
from kinetree.runtime.function import Function
from kinetree.runtime.outputs import returned

try:
    import torch
except ImportError as error:
    raise ArgumentError("to_torch needs the package torch: pip install 'kinetree[torch]'") from error


def to_torch(function: Function) -> Callable[..., Any]:
    """Return this function as one of PyTorch tensors, for autograd, `torch.func` and `torch.compile`.

    Parameters
    ----------
    function : Function
        Any compiled function. Those without derivatives can be called, but not differentiated.

    Returns
    -------
    callable
        It takes the arguments and options of the function, as tensors or whatever `torch.as_tensor` takes, and
        returns tensors: float32 where all tensors given are, else float64. The bits are those of the function.

    Raises
    ------
    ArgumentError
        If PyTorch is missing. When called, for wrong arguments and for tensors that are not in the CPU's memory.

    Notes
    -----
    A gradient with respect to a configuration has its shape, (..., nq), and lies in the tangent space of the unit
    quaternions in it.

    Examples
    --------
    >>> import torch
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> energy = robot.potential_energy.to_torch()
    >>> q = torch.tensor(robot.neutral(), requires_grad=True)
    >>> energy(q).backward()
    >>> bool(abs(q.grad.numpy() - robot.gravity_forces(robot.neutral())).max() < 1e-12)
    True
    """

    @functools.wraps(function.__origin__)
    def call(*args: Any, **kwargs: Any) -> Any:
        operation, tensors, lead, given, _ = bound(function, args, kwargs, functools.partial(_tensor, function))
        floats = [x.dtype for x in given if x.is_floating_point()]
        dtype = torch.float32 if floats and all(kind == torch.float32 for kind in floats) else torch.float64
        for k, (x, port) in enumerate(zip(tensors, operation.inputs, strict=True)):
            wide = x if x.dtype == dtype else x.to(dtype)
            tensors[k] = wide if x.shape == lead + port.shape else wide.expand(lead + port.shape)
        return returned(operation.named, Evaluation.apply(_key(operation), *tensors))

    return torch.compiler.allow_in_graph(call)  # type: ignore[no-any-return]


def _tensor(function: Function, name: str, value: Any) -> Any:
    tensor = torch.as_tensor(value)
    if tensor.device.type != "cpu":
        raise ArgumentError(f"{function.__name__}: {name} is on {tensor.device}, kernels run on the CPU: {name}.cpu()")
    return tensor


_operations: weakref.WeakValueDictionary[int, Operation] = weakref.WeakValueDictionary()


def _key(operation: Operation) -> int:
    """Return the number by which the operator knows an operation: PyTorch's operators take no Python objects."""
    key = int(operation.digest[:15], 16)
    _operations.setdefault(key, operation)
    return key


def _known(key: int) -> Operation:
    if (operation := _operations.get(key)) is None:
        raise ArgumentError(
            "kinetree::evaluate: this function is not there: make it by to_torch in this process, and keep it"
        )
    return operation


def _run(key: int, arrays: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Run the kernel of an operation."""
    found = _known(key).function(*[x.detach().numpy() for x in arrays])
    return [torch.as_tensor(x) for x in found] if isinstance(found, tuple) else [torch.as_tensor(found)]


def _shapes(key: int, arrays: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return tensors of the shapes of the results."""
    operation, first = _known(key), arrays[0]
    lead = first.shape[: first.ndim - len(operation.inputs[0].shape)]
    return [first.new_empty((*lead, *port.shape)) for port in operation.outputs]


_library = torch.library.Library("kinetree", "DEF")  # the operator lives as long as this
_library.define("evaluate(int key, Tensor[] arrays) -> Tensor[]")
_library.impl("evaluate", _run, "CPU")
torch.library.register_fake("kinetree::evaluate", _shapes, lib=_library)
evaluate = torch.ops.kinetree.evaluate.default


class Evaluation(torch.autograd.Function):  # type: ignore[misc]
    """A call of an operation, whose derivatives are calls of its derivatives."""

    @staticmethod
    def forward(key: int, *arrays: torch.Tensor) -> Any:  # noqa: D102
        return tuple(evaluate(key, list(arrays)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: D102
        key, *arrays = inputs
        ctx.operation = _known(key)  # stays, if the function goes
        ctx.save_for_backward(*arrays)
        ctx.save_for_forward(*arrays)

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> Any:  # noqa: D102
        wrt = tuple(k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
        operation = ctx.operation.vjp(wrt)
        found = dict(zip(wrt, Evaluation.apply(_key(operation), *ctx.saved_tensors, *weights), strict=True))
        return (None, *(found.get(k) for k in range(len(ctx.needs_input_grad) - 1)))

    @staticmethod
    def jvp(ctx: Any, _: None, *rates: torch.Tensor | None) -> Any:  # noqa: D102
        wrt = tuple(k for k, rate in enumerate(rates) if rate is not None)
        operation = ctx.operation.jvp(wrt)
        return Evaluation.apply(_key(operation), *ctx.saved_tensors, *(rates[k] for k in wrt))

    @staticmethod
    def vmap(info: Any, axes: tuple[int | None, ...], key: int, *arrays: torch.Tensor) -> Any:  # noqa: D102
        moved = [
            x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
            for x, axis in zip(arrays, axes[1:], strict=True)
        ]
        return Evaluation.apply(key, *moved), (0,) * len(_known(key).outputs)


Evaluation.forward.__signature__ = inspect.signature(Evaluation.forward)  # type: ignore[attr-defined]
"""PyTorch asks for it at every call; where it is known that takes 12 µs less."""

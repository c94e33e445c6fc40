"""A robot in a browser: `Robot.view` and `Mechanism.view`, `Trajectory.view` and `Trajectory.save_html`."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kinetree.drawing.panels import check_drawable
from kinetree.errors import ArgumentError, warn_user
from kinetree.motions import Trajectory
from kinetree.output import check_output, whole_file
from kinetree.robot import Robot
from kinetree.robot.mechanism import Mechanism
from kinetree.validation import Array, positive, real_array
from kinetree.viewer.controls import Player, Sliders
from kinetree.viewer.scene import Scene

FIRST_PORT = 8080
MOST_POSES = 20_000  # in a file
IN_TERMINALS = {"www-browser", "links", "elinks", "lynx", "w3m"}


class View(contextlib.AbstractContextManager["View"]):
    """Robots in a browser, or in the output of a notebook's cell; `Robot.view` and `Trajectory.view` return one.

    The page is served until `close`, the end of a ``with`` block, or Ctrl-C in `wait`.

    Attributes
    ----------
    url : str
        Where the page is, for browsers on this machine.
    """

    def __init__(self, robot: Robot, q: Array, shapes: str, port: int | None, mechanism: Mechanism | None) -> None:
        self._robot, self._player, self._sliders = robot, None, None  # type: Robot, Player | None, Sliders | None
        self._server: Any = serve(robot.name, port)
        self._nrows = mechanism.nrows if isinstance(mechanism, Mechanism) else None
        try:
            self.url = f"http://127.0.0.1:{self._server.get_port()}"
            self._scene = scene = Scene(self._server, robot, q, shapes, mechanism)
            for label, handle in scene.switches.items():
                box = self._server.gui.add_checkbox(label, handle.visible)
                box.on_update(lambda event, label=label: scene.switch(label, event.target.value))
        except BaseException:
            self.close()
            raise

    def show(self, q: ArrayLike, f: ArrayLike | None = None) -> None:
        """Move the robot, or the robots of a batch.

        Parameters
        ----------
        q : (..., nq) array-like
            Configurations of as many robots as are shown.
        f : (..., nrows) array-like, optional
            Forces of the constraints of a mechanism: those of contacts are shown (N).

        Raises
        ------
        ArgumentError
            If they have another shape, or are not finite; or the view is closed.
        """
        Q, count, name = in_a_row("q", q, self._robot.nq), self._scene.count, self._robot.name
        F = None if f is None else in_a_row("f", f, self._nrows)
        if self._server is None:
            raise ArgumentError(f"this view of {name!r} is closed: view() opens another one")
        if len(Q) != count or (F is not None and len(F) != count):
            raise ArgumentError(f"{count} of {name!r} are shown: q and f take {count}, not {len(Q)}")
        self._scene.show(Q, F)
        if self._sliders is not None:
            self._sliders.follow(Q[0])

    def wait(self) -> None:
        """Serve the page until Ctrl-C, and close it."""
        with contextlib.suppress(KeyboardInterrupt), self:
            while self._server is not None:
                time.sleep(0.1)

    def close(self) -> None:
        """Serve the page no more."""
        if self._player is not None:
            self._player.stop()
        server, self._server = self._server, None
        if server is not None:
            with silently():
                server.stop()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<View of {self._robot.name!r} {'that is closed' if self._server is None else f'at {self.url}'}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="500" style="border:0"></iframe>'

    def _open(self, browser: bool | None) -> Self:
        """Open a browser where one is wanted; warn where there is none."""
        if browser is False or (browser is None and _is_notebook()):
            return self
        with contextlib.suppress(webbrowser.Error):
            program = webbrowser.get()
            if getattr(program, "name", "") not in IN_TERMINALS and program.open(self.url):
                return self
        port = self.url.rpartition(":")[2]
        far = f"from another machine, `ssh -L {port}:127.0.0.1:{port} HOST` first"
        warn_user(f"no browser was found here: open {self.url}; {far}", UserWarning)
        return self


def view(
    self: Robot | Mechanism,
    q: ArrayLike | None = None,
    *,
    shapes: str = "visual",
    port: int | None = None,
    browser: bool | None = None,
) -> View:
    """Show the robot in a browser, with a slider for each joint.

    Where there are no meshes, or they are not found, which a `kinetree.FormatWarning` tells, links are boxes of even
    density that have their inertias, and sticks from joint to joint. A joint with a quaternion has sliders for shifts
    and turns away from `q`, in its own axes.

    Parameters
    ----------
    q : (..., nq) array-like or str, optional
        Configuration, or the name of one; the neutral one if not given. Those of a batch stand side by side.
    shapes : {"visual", "collision", "links"}
        What the file has for the eyes, or for contacts; or the boxes.
    port : int, optional
        Of the page; the first free one from 8080 on if not given. Only this machine can reach it.
    browser : bool, optional
        Whether to open one; if not given, outside notebooks, which show the page themselves.

    Returns
    -------
    view : View
        ``view.show(q)`` moves the robot, ``view.wait()`` serves the page until Ctrl-C, ``view.close()`` ends it.

    Raises
    ------
    ArgumentError
        If viser, the extra ``view``, is not installed, the port is taken, or q has another shape.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> with robot.view(browser=False) as view:
    ...     view.show([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
    """
    mechanism, robot = (self, self.tree) if isinstance(self, Mechanism) else (None, self)
    start = robot.neutral() if q is None else robot.configuration(q) if isinstance(q, str) else q
    Q = in_a_row("q", start, robot.nq)
    shown = View(robot, Q, shapes, port, mechanism)
    if len(Q) == 1:
        shown._sliders = Sliders(shown._server.gui, robot, Q[0], lambda q: shown._scene.show(q[None]))
    return shown._open(browser)


def view_trajectory(
    self: Trajectory,
    *,
    mechanism: Mechanism | None = None,
    shapes: str = "visual",
    port: int | None = None,
    browser: bool | None = None,
) -> View:
    """Show the motion in a browser, to be played, stopped and slowed down; robots of a batch stand side by side.

    Parameters
    ----------
    mechanism : Mechanism, optional
        The one that was simulated: its contact forces are arrows, if `f` was recorded.
    shapes, port, browser
        As `Robot.view` takes them.

    Returns
    -------
    view : View

    Raises
    ------
    ArgumentError
        If viser, the extra ``view``, is not installed, the port is taken, or a number of the motion is not finite.
    """
    at = moments(self, mechanism)
    shown = View(self.robot, at(self.t[0])[0], shapes, port, mechanism)
    shown._player = Player(shown._server, self.t, lambda t: shown._scene.show(*at(t)))
    return shown._open(browser)


def save_html(
    self: Trajectory,
    path: str | PathLike[str],
    *,
    fps: float = 30.0,
    mechanism: Mechanism | None = None,
    shapes: str = "visual",
) -> None:
    """Write the motion as one HTML file that plays in any browser, without a network: meshes and player are in it.

    Parameters
    ----------
    path : str or path
        With the suffix ``.html``; the file appears when it is complete.
    fps : float
        Poses a second.
    mechanism, shapes
        As `Trajectory.view` takes them.

    Raises
    ------
    ArgumentError
        If viser, the extra ``view``, is not installed, the suffix is another one, or a number is not finite.
    OSError
        If the file cannot be written.
    """
    check_output(fspath(path), None, (".html",))
    count = max(2, round(self.duration * positive("fps", fps)) + 1)
    if count > MOST_POSES:
        raise ArgumentError(f"{count} poses are too many for a file: give a smaller fps, or a part, trajectory[:1000]")
    at = moments(self, mechanism)
    with View(self.robot, at(self.t[0])[0], shapes, None, mechanism) as shown:
        recorder = shown._server.get_scene_serializer()
        for t in np.linspace(self.t[0], self.t[-1], count):
            shown._scene.show(*at(t))
            recorder.insert_sleep(self.duration / (count - 1))
        page = recorder.as_html()
    with whole_file(Path(path)) as stream:
        stream.write(page.encode())


def moments(trajectory: Trajectory, mechanism: Mechanism | None) -> Callable[[float], tuple[Array, Array | None]]:
    """Return a function of time: configurations of all robots in a row, and forces of the sample before, if any."""
    check_drawable(trajectory)
    recorded = isinstance(mechanism, Mechanism) and "f" in trajectory.recorded
    f = real_array("f", trajectory.f, mechanism.nrows) if mechanism is not None and recorded else None

    def at(t: float) -> tuple[Array, Array | None]:
        k = max(0, int(np.searchsorted(trajectory.t, t, side="right")) - 1)
        q = trajectory.at(t).q.reshape(-1, trajectory.robot.nq)
        return q, None if f is None else f[..., k, :].reshape(len(q), -1)

    return at


def in_a_row(name: str, given: ArrayLike, n: int | None) -> Array:
    """Return arrays of numbers of one robot or several as (robots, n)."""
    array = real_array(name, given, n)
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf)")
    return array.reshape(-1, array.shape[-1]) if array.size else np.zeros((1, 0))


def check_viser() -> None:
    """Raise `ArgumentError` where the packages of the extra ``view`` are not installed."""
    for package in ("viser", "trimesh"):
        if importlib.util.find_spec(package) is None:
            raise ArgumentError(f"a viewer needs the package {package}: pip install 'kinetree[view]'")


def serve(name: str, port: int | None) -> Any:
    """Return a server of viser for this machine alone."""
    check_viser()
    import viser

    if port is not None and not (isinstance(port, int) and 0 < port < 2**16):  # for these viser would wait for ever
        raise ArgumentError(f"port takes a whole number from 1 to 65535; {port!r} was given")
    with silently():
        server = viser.ViserServer("127.0.0.1", FIRST_PORT if port is None else port, label=name, verbose=False)
        if port is not None and server.get_port() != port:
            server.stop()
            raise ArgumentError(f"port {port} is taken, or none for a user: leave it out for the first free one")
    return server


@contextlib.contextmanager
def silently() -> Iterator[None]:
    """Let viser print nothing, which prints in notebooks too, verbose or not."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook, which shows the view in its cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")

"""A robot in a browser: `Robot.view` and `Mechanism.view`, `Trajectory.view` and `Trajectory.save_html`."""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kinetree.drawing.panels import check_drawable
from kinetree.errors import ArgumentError
from kinetree.geometry.meshes import check_installed
from kinetree.motions import Trajectory
from kinetree.output import check_output, whole_file
from kinetree.robot import Robot
from kinetree.robot.mechanism import Mechanism
from kinetree.validation import Array, positive, real_array
from kinetree.viewer.controls import Player, Sliders
from kinetree.viewer.forces import ContactForces
from kinetree.viewer.scene import Scene

FIRST_PORT = 8080
MOST_FRAMES = 20_000  # of a motion in a file
TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}


class View:
    """Robots that a browser shows; a cell of a notebook shows them too.

    The page is served until `close`, the end of a ``with`` block, or Ctrl-C in `wait`.

    Attributes
    ----------
    url : str
        Where the page is: on this machine only.
    """

    def __init__(self, robot: Robot, q: Array, port: int | None, mechanism: Mechanism | None, shapes: str) -> None:
        forces = None if mechanism is None else ContactForces(mechanism, robot)
        self._server = serve(robot.name, port)
        self._robot, self._parts = robot, list[Player]()
        try:
            self.url = f"http://127.0.0.1:{self._server.get_port()}"
            self._scene = Scene(self._server, robot, q, forces, shapes)
            frames = self._server.gui.add_checkbox("frames", False)
            frames.on_update(lambda event: self._scene.show_frames(event.target.value))
            if self._scene.arrows is not None:
                arrows = self._server.gui.add_checkbox("contact forces", True)
                arrows.on_update(lambda event: setattr(self._scene.arrows, "visible", event.target.value))
        except BaseException:
            self.close()
            raise

    def show(self, q: ArrayLike, f: ArrayLike | None = None) -> None:
        """Move the robot, or the robots of a batch, to a configuration.

        Parameters
        ----------
        q : (..., nq) array-like
            As many robots as there were at first.
        f : (..., nrows) array-like, optional
            Forces of the constraints of the mechanism, of which those of contacts are shown.

        Raises
        ------
        ArgumentError
            If an array has another shape, or is not finite.
        """
        Q = configurations(self._robot, q)
        if len(Q) != len(self._scene.shift):
            raise ArgumentError(f"{len(self._scene.shift)} robots are shown; q of {len(Q)} was given")
        if f is not None and self._scene.forces is None:
            raise ArgumentError("forces are shown of a mechanism: mech.view(…)")
        self._scene.show(Q, None if f is None else real_array("f", f, None).reshape(len(Q), -1))

    def wait(self) -> None:
        """Serve the page until Ctrl-C, and close it."""
        try:
            while self._server is not None:
                time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving the page."""
        server, self._server = self._server, None
        for part in self._parts:
            part.stop()
        if server is not None:
            with silently():
                server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "closed" if self._server is None else f"at {self.url}"
        return f"<View of {self._robot.name!r} {where}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="500" style="border:0"></iframe>'


def view(
    self: Robot | Mechanism,
    q: ArrayLike | None = None,
    *,
    shapes: str = "visual",
    port: int | None = None,
    browser: bool | None = None,
) -> View:
    """Show the robot in a browser, with a slider for each joint.

    Meshes are shown where they are found. A link whose meshes are not, or of a robot that has none, is a box of even
    density that has its inertia, with sticks from joint to joint; a `kinetree.FormatWarning` says what is missing. A
    joint with a quaternion has sliders for turns and shifts away from `q`, in its own axes.

    Parameters
    ----------
    q : (..., nq) array-like or str, optional
        Configuration, or the name of one; those of a batch stand side by side, without sliders. By default the neutral
        one.
    shapes : {"visual", "collision", "links"}
        What is shown: what the file has for the eyes, for contacts, or the boxes of the inertias.
    port : int, optional
        Of the server; by default the first free one from 8080 on. Only this machine can reach it; from another one,
        ``ssh -L 8080:127.0.0.1:8080 HOST`` leads there.
    browser : bool, optional
        Whether to open it in a browser; by default if there is one, and not in a notebook, which shows it itself.

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
    Q = configurations(robot, start)
    shown = View(robot, Q, port, mechanism, shapes)
    if len(Q) == 1:
        Sliders(shown._server.gui, robot, Q[0], lambda q: shown._scene.show(q[None], None))
    open_browser(shown, browser)
    return shown


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
        The one that was simulated: if its forces `f` were recorded, those of contacts are shown as arrows.
    shapes, port, browser
        See `Robot.view`.

    Returns
    -------
    view : View

    Raises
    ------
    ArgumentError
        If viser, the extra ``view``, is not installed, the port is taken, or the trajectory cannot be drawn.
    """
    motion = Motion(self, mechanism)
    shown = View(self.robot, motion.first, port, mechanism, shapes)
    shown._parts.append(Player(shown._server, self.t, lambda t: shown._scene.show(*motion.at(t))))
    open_browser(shown, browser)
    return shown


def save_html(
    self: Trajectory,
    path: str | PathLike[str],
    *,
    fps: float = 30.0,
    mechanism: Mechanism | None = None,
    shapes: str = "visual",
) -> None:
    """Write the motion as one HTML file that plays in any browser, offline too: meshes and player are in it.

    Parameters
    ----------
    path : str or path
        With the suffix ``.html``; the file appears when it is complete.
    fps : float
        Poses a second.
    mechanism, shapes
        See `Trajectory.view`.

    Raises
    ------
    ArgumentError
        If viser, the extra ``view``, is not installed, the suffix is another one, or the trajectory cannot be drawn.
    OSError
        If the file cannot be written.
    """
    name = fspath(path)
    check_output(name, None, (".html",))
    count = round(self.duration * positive("fps", fps)) + 1
    if count > MOST_FRAMES:
        raise ArgumentError(f"{count} poses are too many for a file: give a smaller fps, or a part: trajectory[:1000]")
    motion = Motion(self, mechanism)
    with View(self.robot, motion.first, None, mechanism, shapes) as shown:
        times = np.linspace(self.t[0], self.t[-1], count)
        recorder = shown._server.get_scene_serializer()
        for t in times:
            shown._scene.show(*motion.at(float(t)))
            recorder.insert_sleep(self.duration / max(1, count - 1))
        page = recorder.as_html()
    with whole_file(Path(name)) as stream:
        stream.write(page.encode())


class Motion:
    """A trajectory as configurations and forces of all its robots, in a row, at any time."""

    def __init__(self, trajectory: Trajectory, mechanism: Mechanism | None) -> None:
        check_drawable(trajectory)
        self._trajectory = trajectory
        self._f = trajectory.f if mechanism is not None and "f" in trajectory.recorded else None
        self.first, _ = self.at(float(trajectory.t[0]))

    def at(self, t: float) -> tuple[Array, Array | None]:
        """Return q (robots, nq), and f (robots, nrows) of the sample before, if there are forces."""
        motion = self._trajectory
        k = max(0, int(np.searchsorted(motion.t, t, side="right")) - 1)
        f = None if self._f is None else self._f[..., k, :].reshape(-1, self._f.shape[-1])
        return motion.at(t).q.reshape(-1, motion.robot.nq), f


def configurations(robot: Robot, q: ArrayLike) -> Array:
    """Return the configurations of robots in a row (robots, nq)."""
    Q = real_array("q", q, robot.nq).reshape(-1, robot.nq) if robot.nq else np.zeros((1, 0))
    if not np.isfinite(Q).all():
        raise ArgumentError("q holds a number that is not finite (NaN or inf)")
    return Q


def serve(name: str, port: int | None) -> Any:
    """Return a server of viser for this machine alone."""
    if importlib.util.find_spec("viser") is None:
        raise ArgumentError("a viewer needs the package viser: pip install 'kinetree[view]'")
    check_installed()
    import viser

    if port is not None and not (isinstance(port, int) and 0 < port < 65536):
        raise ArgumentError(f"port is {port!r}; it is a number from 1 to 65535, such as {FIRST_PORT}")
    with silently():
        server = viser.ViserServer("127.0.0.1", port or FIRST_PORT, label=name, verbose=False)
        if port is not None and server.get_port() != port:
            server.stop()
            raise ArgumentError(f"port {port} is taken: give another one, or none for the first that is free")
    return server


@contextmanager
def silently() -> Iterator[None]:
    """Have viser print nothing."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def open_browser(shown: View, wanted: bool | None) -> None:
    """Open the page in a browser where one is wanted; warn where there is none."""
    if wanted is None and "ipykernel" in sys.modules:
        return
    if wanted is False:
        return
    try:
        browser = webbrowser.get()
        found = getattr(browser, "name", "") not in TEXT_BROWSERS and browser.open(shown.url)
    except webbrowser.Error:
        found = False
    if not found:
        port = shown.url.rpartition(":")[2]
        what = f"no browser was found here: open {shown.url}; from another machine, ssh -L {port}:127.0.0.1:{port} HOST"
        warnings.warn(what, stacklevel=4)

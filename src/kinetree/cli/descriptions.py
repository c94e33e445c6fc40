"""What the commands say of themselves, with examples."""

INVERSE_DYNAMICS = """\
Joint torques of a motion. Prints the largest torque of every joint against its effort limit; writes the torques
with -o, and draws them with --plot.

TRAJECTORY is a CSV or an NPZ with q, v and a; or with q and a time t, and then v and a are found by
differentiation: a polynomial of degree 4 is fitted by least squares to the samples of a window around each one (a
Savitzky-Golay filter for any spacing of the samples, on the manifold where a joint has a quaternion), one-sided
at the ends and at gaps in time. With q, v and t, only a is. Angles must not wrap around. Without a TRAJECTORY, a
smooth random motion is made for every joint with one degree of freedom, within its limits and at rest at both ends
(a Fourier series of 5 harmonics); a floating base stands still.

columns of a CSV, for the joint elbow, the second of the robot:
  q.elbow   v.elbow   a.elbow   t      positions, velocities, accelerations (SI units), time in s
  elbow.q   q_elbow   qd.elbow   elbow_vel   qdd_elbow   elbow/acceleration   ...    are understood as well
  elbow                                alone is a position
  q2 v2 a2, q_2 qd_2 qdd_2, q[2] ...   numbers, from 1 or from 0: the whole set of a quantity
  joint2  joint2_vel  joint2_acc       the same, counting joints only
  base.x .y .z .qx .qy .qz .qw         the pose of a floating base, whatever its joint is called; x ... qw alone as well
  base.wx .wy .wz .vx .vy .vz          its velocity, in its own axes; a.base.wx ... its acceleration
  q2 [rad]   time (s)                  the unit may follow; other units than those of the SI are refused
  /joint_states/elbow/position         a path may go before
A file without a header has the columns q, v, a, or t, q, v, a, or t, q. Comma, semicolon, tab or blanks
separate; a line that begins with # is a comment. Columns that mean nothing are ignored and reported.
An NPZ has the arrays q (n, nq), v (n, nv), a (n, nv), t (n,).
"""

INVERSE_DYNAMICS_EXAMPLES = """\
examples:
  kinetree inverse-dynamics panda motion.csv -o torques.csv
  kinetree inverse-dynamics g1 walk.npz -o torques.npz --plot torques.pdf
  kinetree inverse-dynamics arm.urdf recorded.csv --window 31          a noisy record: smooth more
  kinetree inverse-dynamics panda --duration 20 --seed 3 -o excitation.csv
  kinetree inverse-dynamics panda motion.csv --friction --payload 1.5,0,0,0.1@panda_hand
  cat motion.csv | kinetree inverse-dynamics panda - -o - | head
"""


EXPORT = """\
A function of a robot as one C99 file, and its header beside it. The files need a C compiler and libm, and are yours:
no licence of kinetree applies to them. FUNCTION is the name of one of the robot's functions in Python, such as
inverse_dynamics, forward_dynamics, mass_matrix, jacobian.
"""

EXPORT_EXAMPLES = """\
examples:
  kinetree export panda inverse_dynamics -o panda_id.c
  kinetree export panda jacobian --option frame=panda_hand --option reference=world --dtype float32
  kinetree export g1 inverse_dynamics --optional f_ext --name g1_id -o src/
  kinetree export ur5 forward_dynamics --main -o fd.c && cc -O2 -march=native fd.c -lm -o fd
"""

SIMULATE = """\
The motion of a robot from an initial state. Prints the range of every joint, its largest speed and torque against
the limits, and how well the energy is kept; writes the motion with -o, draws it over time with --plot and as a moving
stick figure with --animate.

Without --tau and --hold it falls freely. --hold is computed torque: the joints that have motors get the accelerations
KP (q0 - q) - KD v, and a floating base falls. Numbers are separated by blanks or commas; if the first one is negative
and commas follow, write --q=-1,0,0. Ctrl-C ends the simulation early: what was computed until then is summed up,
written and drawn. A robot whose state is no longer finite stops: that is written and drawn too, and the exit code is 1.
"""

SIMULATE_EXAMPLES = """\
examples:
  kinetree simulate panda --duration 2 --dt 1e-4 --integrator rk4
  kinetree simulate panda --q 0 0.3 0 -1.5 0 1.8 0.8 --hold --payload 2@panda_hand --plot held.png
  kinetree simulate panda --integrator tsitouras --rtol 1e-9 --atol 1e-11 --joints none --gravity 0,0,-1.62
  kinetree simulate go2 --random --seed 3 -o tumble.npz --animate tumble.gif
  kinetree simulate arm.urdf --tau 1,0,0 -o motion.csv
"""

"""Tables of other libraries' names: what `kinetree.aliases` reads.

Each line has names of one library, a colon, and what to write here, with a comment where the numbers differ. The name
that is called, or the string after ``=``, must exist: `tests/test_names.py` looks up every one and binds its arguments.
Names for which there is nothing to write have a sentence instead, in a table of their own.
"""

PINOCCHIO = """
rnea: robot.inverse_dynamics(q, v, a)
aba: robot.forward_dynamics(q, v, tau)
crba: robot.mass_matrix(q)
nle nonLinearEffects: robot.bias_forces(q, v)
computeGeneralizedGravity: robot.gravity_forces(q)
cholesky decompose: robot.solve_mass_matrix(q, b)  # the factor: robot.mass_matrix_factor(q)
computeMinverse: robot.mass_matrix_inverse(q)
computeCoriolisMatrix getCoriolisMatrix: robot.coriolis_matrix(q, v)
forwardKinematics: robot.forward_kinematics(q)
oMi: robot.forward_kinematics(q)
framesForwardKinematics updateFramePlacements oMf: robot.frame_placements(q)
updateFramePlacement: robot.frame_placement(q, frame=...)
computeJointJacobians: robot.jacobian(q, frame=..., reference="world")  # angular first
computeJointJacobian getJointJacobian: robot.jacobian(q, frame=...)  # angular first
computeFrameJacobian getFrameJacobian: robot.jacobian(q, frame=...)  # angular first
frameJacobianTimeVariation getFrameJacobianTimeVariation getJointJacobianTimeVariation: \
robot.jacobian_rate(q, v, frame=...)  # angular first
computeJointJacobiansTimeVariation: robot.jacobian_rate(q, v, frame=..., reference="world")  # angular first
getVelocity getFrameVelocity: robot.frame_velocity(q, v, frame=...)  # angular first
getAcceleration getFrameAcceleration: robot.frame_acceleration(q, v, a, frame=...)  # angular first
getClassicalAcceleration getFrameClassicalAcceleration: \
robot.frame_acceleration(q, v, a, frame=..., kind="classical")  # angular first
centerOfMass com: robot.center_of_mass(q)
jacobianCenterOfMass: robot.center_of_mass_jacobian(q)
ccrba computeCentroidalMap: robot.centroidal_momentum_matrix(q)  # angular first
dccrba computeCentroidalMapTimeVariation: robot.centroidal_momentum_matrix_rate(q, v)  # angular first
computeCentroidalMomentum: robot.centroidal_momentum(q, v)  # angular first
computeCentroidalMomentumTimeVariation: robot.centroidal_momentum_rate(q, v, a)  # angular first
computeKineticEnergy: robot.kinetic_energy(q, v)
computePotentialEnergy: robot.potential_energy(q)
computeMechanicalEnergy: robot.mechanical_energy(q, v)
computeJointTorqueRegressor: robot.joint_torque_regressor(q, v, a)
randomConfiguration: robot.random_configuration()
computeTotalMass: robot.mass
getFrameId existFrame frames nframes: robot.frame_names
getJointId existJointName njoints names: robot.joint_names
lowerPositionLimit: robot.lower_limits
upperPositionLimit: robot.upper_limits
velocityLimit: robot.velocity_limits
effortLimit: robot.effort_limits
rotorInertia: robot.armature  # times the square of the gear ratio
buildReducedModel: robot.lock(joints, q)
appendModel: robot.attach(other, frame)
buildModelFromUrdf buildModelsFromUrdf buildModelFromXML buildModelsFromSdf RobotWrapper BuildFromURDF: kt.load(source)
buildModelsAndConstraintsFromSdf: kt.load_mechanism(source)
JointModelFreeFlyer: kt.load(source, floating_base=True)
LOCAL local: reference="body"
WORLD global space: reference="world"
LOCAL_WORLD_ALIGNED local_world_aligned: reference="aligned"
dq q_dot dq_dt: v
ddq q_ddot: a
fext: f_ext
frame_id frame_name joint_id: frame
reference_frame rf: reference
"""

MUJOCO = """
mj_inverse qfrc_inverse: robot.inverse_dynamics(q, v, a)
mj_forward mj_fwdAcceleration: robot.forward_dynamics(q, v, tau)
mj_fullM mj_crb qM: robot.mass_matrix(q)
mj_factorM: robot.mass_matrix_factor(q)
mj_solveM: robot.solve_mass_matrix(q, b)
mj_rne qfrc_bias: robot.bias_forces(q, v)
mj_kinematics xpos xmat: robot.forward_kinematics(q)
site_xpos site_xmat: robot.frame_placements(q)
mj_jac mj_jacBody mj_jacSite mj_jacGeom: robot.jacobian(q, frame=..., reference="aligned")  # jacr, then jacp
mj_jacDot: robot.jacobian_rate(q, v, frame=..., reference="aligned")  # jacr, then jacp
mj_jacBodyCom: robot.jacobian(q, frame=..., point=..., reference="aligned")  # jacr, then jacp
mj_jacSubtreeCom: robot.center_of_mass_jacobian(q)
mj_comPos subtree_com: robot.center_of_mass(q)
mj_angmomMat: robot.centroidal_momentum_matrix(q)  # its first three rows
mj_objectVelocity: robot.frame_velocity(q, v, frame=...)
mj_objectAcceleration: robot.frame_acceleration(q, v, a, frame=..., kind="classical")  # without gravity
mj_integratePos: robot.integrate(q, v, dt)
mj_differentiatePos: robot.difference(q0, q1)
cvel: robot.frame_velocity(q, v, frame=...)  # at the frame's origin
cacc: robot.frame_acceleration(q, v, a, frame=...)  # at the frame's origin
cdof: robot.jacobian(q, frame=..., reference="world")  # its columns
cinert body_inertia body_mass body_ipos: robot.inertial_parameters
mj_energyPos: robot.potential_energy(q)
mj_energyVel: robot.kinetic_energy(q, v)
mj_getTotalmass: robot.mass
qpos0: robot.neutral()
jnt_range: robot.lower_limits
dof_armature: robot.armature
dof_damping: robot.damping
dof_frictionloss: robot.friction
jnt_stiffness: robot.stiffness
qpos_spring: robot.rest_positions
from_xml_path from_xml_string MjModel: kt.load(source)
qpos: q
qvel: v
qacc: a
qfrc_applied ctrl: tau
xfrc_applied: f_ext
body_id site_id: frame
"""

ROBOTICS_TOOLBOX = """
rne: robot.inverse_dynamics(q, v, a)
accel fdyn: robot.forward_dynamics(q, v, tau)
inertia: robot.mass_matrix(q)
coriolis: robot.coriolis_matrix(q, v)
inertia_x cinertia: robot.operational_inertia(q, frame=..., reference="aligned")  # no rates of roll, pitch and yaw
itorque: robot.mass_matrix(q) @ a
gravload: robot.gravity_forces(q)
fkine: robot.frame_placement(q, frame=...)
fkine_all: robot.frame_placements(q)
jacob0: robot.jacobian(q, frame=..., reference="aligned")  # angular first
jacobe: robot.jacobian(q, frame=...)  # angular first
jacob0_dot: robot.jacobian_rate(q, v, frame=..., reference="aligned")  # angular first
ikine ikine_LM ikine_LMS ikine_GN ikine_NR ik_LM ik_GN ik_NR: robot.inverse_kinematics(pose, frame)
qlim: robot.lower_limits
n: robot.nv
qz: robot.neutral()
qr: robot.configuration(name)
nofriction: robot.with_friction(damping=False, coulomb=False)
random_q: robot.random_configuration()
payload: robot.attach(inertia, frame)
links: robot.frame_names
link_dict: robot.frame(name)
jtraj: kt.motions.quintic(robot, q0, q1, duration)
trapezoidal mstraj: kt.motions.trapezoid(robot, q0, q1, acceleration=a)
DHRobot SerialLink RevoluteDH RevoluteMDH PrismaticDH: kt.from_dh(links)
ERobot URDF models Panda: kt.load(source)
qd: v
qdd: a
end: frame
"""

DRAKE = """
CalcInverseDynamics: robot.inverse_dynamics(q, v, a)
CalcForwardDynamics: robot.forward_dynamics(q, v, tau)
CalcMassMatrix CalcMassMatrixViaInverseDynamics: robot.mass_matrix(q)
CalcBiasTerm: robot.bias_forces(q, v) - robot.gravity_forces(q)
CalcGravityGeneralizedForces: -robot.gravity_forces(q)
CalcJacobianSpatialVelocity CalcJacobianTranslationalVelocity CalcJacobianAngularVelocity: \
robot.jacobian(q, frame=..., reference="aligned")
CalcBiasSpatialAcceleration CalcBiasTranslationalAcceleration: \
robot.jacobian_bias(q, v, frame=..., reference="aligned")
CalcCenterOfMassPositionInWorld: robot.center_of_mass(q)
CalcCenterOfMassTranslationalVelocityInWorld: robot.center_of_mass_velocity(q, v)
CalcJacobianCenterOfMassTranslationalVelocity: robot.center_of_mass_jacobian(q)
CalcRelativeTransform: robot.relative_placement(q, frame=..., relative_to=...)
EvalBodyPoseInWorld CalcPoseInWorld: robot.frame_placement(q, frame=...)
EvalBodySpatialVelocityInWorld CalcSpatialVelocityInWorld: robot.frame_velocity(q, v, frame=..., reference="aligned")
CalcSpatialMomentumInWorldAboutPoint: robot.centroidal_momentum(q, v)  # about the center of mass
CalcKineticEnergy EvalKineticEnergy: robot.kinetic_energy(q, v)
CalcPotentialEnergy EvalPotentialEnergy: robot.potential_energy(q)
CalcTotalMass: robot.mass
InverseKinematics: robot.inverse_kinematics(pose, frame)
DoDifferentialInverseKinematics: robot.differential_inverse_kinematics(frame)
GetPositionLowerLimits: robot.lower_limits
GetPositionUpperLimits: robot.upper_limits
GetVelocityUpperLimits: robot.velocity_limits
GetEffortUpperLimits: robot.effort_limits
num_positions: robot.nq
num_velocities: robot.nv
num_bodies: robot.nb
MultibodyPlant Parser AddModels AddModelFromFile: kt.load(source)
vdot known_vdot: a
frame_B: frame
"""

CONSTRAINTS = """
constraintDynamics contactABA pv ForwardDynamicsConstraintsDirect ForwardDynamicsContactsDirect efc_force: \
mech.forward_dynamics(q, v, tau)
impulseDynamics ComputeConstraintImpulsesDirect: mech.impulse(q, v)
contactInverseDynamics: mech.contact_inverse_dynamics(q, v, a)
InverseDynamicsConstraints InverseDynamicsConstraintsRelaxed: mech.inverse_dynamics(q, v, a)
getConstraintsJacobian getConstraintJacobian CalcConstraintsJacobian CalcContactJacobian efc_J: \
mech.constraint_jacobian(q)
computeConstraintErrors efc_pos: mech.constraint_error(q)
computeDelassusMatrix getDelassusMatrix getDelassusCholeskyExpression DelassusOperatorDense efc_AR: \
mech.delassus_matrix(q)
getOperationalSpaceInertiaMatrix: mech.constraint_inertia(q)
evalConstraintJacobianTransposeMatrixProduct qfrc_constraint: mech.constraint_forces(q, f)
CalcAssemblyQ CalcAssemblyPositionInitialCondition: mech.assemble(q0)
CalcAssemblyQDot: mech.project_velocity(q, v)
mj_contactForce EvalContactResults CalcContactResults: mech.contact_dynamics(q, v, tau)
PGSContactSolver ADMMContactSolver PGSConstraintSolver ADMMConstraintSolver SapSolver computeContactImpulses: \
kt.solve_contacts(G, g, mu)
AddBallConstraint PointConstraintModel mjEQ_CONNECT: kt.Loop(frame, to, joint)
AddWeldConstraint FrameConstraintModel mjEQ_WELD: kt.Weld(frame, to)
AddDistanceConstraint PointAnchorConstraint: kt.Rod(frame, to, length)
AddCouplerConstraint mjEQ_JOINT: kt.Gear(coefficients)
PointContactConstraintModel CoulombFrictionCone CoulombFriction geom_friction: kt.Contact(frame, friction=mu)
ConstraintSet: kt.Mechanism(robot, constraints)
"""

OTHERS = """
fk: robot.forward_kinematics(q)
ik solve_ik: robot.inverse_kinematics(pose, frame)
diff_ik velocity_ik clik resolved_rate rmrc p_servo: robot.differential_inverse_kinematics(frame)
mj_step mj_Euler mj_RungeKutta: robot.step(q, v, tau, dt)
rollout batch: robot.simulate(q, v, duration=...)
mjcb_control: robot.simulate(q, v, controller=...)
jac: robot.jacobian(q, frame=...)
calculateInverseDynamics: robot.inverse_dynamics(q, v, a)
calculateMassMatrix: robot.mass_matrix(q)
calculateJacobian: robot.jacobian(q, frame=..., reference="aligned")
loadURDF load_urdf from_urdf: kt.load(source)
position_limits joint_limits: (robot.lower_limits, robot.upper_limits)
joints: robot.joint_names
bodies: robot.body_names
dof ndof ndofs n_dof num_dof: robot.nv
M: robot.mass_matrix(q)
C: robot.coriolis_matrix(q, v)
g: robot.gravity_forces(q)
with_payload add_payload: robot.attach(inertia, frame)
torque torques: tau
link body body_name link_name ee ee_link ee_name ee_frame end_effector end_effector_name tcp tool: frame
"""

KEYWORDS = """
timestep time_step step_size stepsize delta_t h: dt
T t_end tf t_f t_final end_time final_time total_time sim_time horizon tspan t_span: duration
n_steps nsteps num_steps nstep N: steps
method solver scheme: integrator
tol eps: position_tolerance orientation_tolerance integrator=kt.Tsitouras(rtol=…)
pos_tol position_tol: position_tolerance
rot_tol ori_tol orientation_tol: orientation_tolerance
max_iter maxiter max_iters ilimit iterations: max_iterations
slimit attempts num_retries retries: restarts
q_init qinit initial_guess guess seed_state q_start x0: q0 q
q0: q
v0 v_init qd0 dq0: v
u effort generalized_forces joint_torques: tau forces
forces: tau
control control_fn policy callback: controller
external_wrenches wrenches external_forces: f_ext
floating fixed_base free_flyer root_joint: floating_base
r_coeff bounce elasticity: restitution contacts=kt.ContactInputs(restitution=…)
mu friction_coefficient friction_coefficients: friction contacts=kt.ContactInputs(friction=…)
eq_active enabled: contacts=kt.ContactInputs(active=…)
lambda_guess lambda0: f_start
f_ext_frame: forces=kt.Forces(frame=…)
control_every decimation control_decimation: controller=kt.Controller(law,every=…)
per_step: controller=kt.Controller(law,over_time=…)
record_every save_every record_interval log_every stride: record=kt.Record(every=…)
rtol reltol rel_tol: integrator=kt.Tsitouras(rtol=…)
atol abstol abs_tol: integrator=kt.Tsitouras(atol=…)
t0: q=kt.State(t,q,v)
drift: contacts=kt.ContactInputs(row_motion=…)
tolerance: position_tolerance orientation_tolerance contacts=kt.ContactInputs(solver=kt.ContactSolver(tolerance=…))
max_iterations: contacts=kt.ContactInputs(solver=kt.ContactSolver(max_iterations=…))
limits: joints
joint_terms: terms
weights: by=LeastSquares(weights)
loss: by=Robust(loss)
instruments: by=Instrumental(motion)
consistent: bodies=None
prior_spread: bodies=Bodies(spread)
bounds: bodies=Bodies(bounds)
"""

WITHOUT = """
createData createDatas Data data MjData CreateDefaultContext Finalize SetPositions SetVelocities: \
there is no such object to keep: functions take the state, as in robot.inverse_dynamics(q, v, a), and return new arrays
computeAllTerms updateGlobalPlacements mj_comVel mj_rnePostConstraint: \
nothing is computed beforehand: call the functions whose results are wanted, in any order
ReferenceFrame: references are strings: reference="body", "aligned" or "world"
SE3 exp6 log6: \
poses are 4×4 arrays; robot.integrate and robot.difference move configurations, SciPy's RigidTransform does the rest
SO3 UnitQuaternion Quaternion exp3 log3: \
orientations are the upper left 3×3 of poses; SciPy's Rotation has quaternions, x, y, z, w, and rotation vectors
Motion Force: velocities and forces are arrays of six, the angular part first
normalize: nothing has to be normalised: a quaternion of any norm is the same rotation
initConstraintDynamics RigidConstraintModel RigidConstraintData RigidContactModel RigidContactData \
ProximalSettings contact ncon nefc mj_makeConstraint mj_projectConstraint mj_referenceConstraint efc_aref: \
kt.Mechanism(robot, constraints) is a robot with constraints, such as kt.Loop, kt.Weld and kt.Contact, and has functions
computeRNEADerivatives computeABADerivatives computeForwardKinematicsDerivatives getJointVelocityDerivatives \
getJointAccelerationDerivatives getFrameVelocityDerivatives getFrameAccelerationDerivatives \
computeGeneralizedGravityDerivatives computeStaticTorqueDerivatives computeCentroidalDynamicsDerivatives \
jacob0_analytical hessian0 hessiane mjd_inverseFD mjd_transitionFD: \
analytic derivatives are not there yet; robot.jacobian_rate is the rate of a Jacobian along v
AutoDiffXd Expression: kinetree.algorithms take any scalar, such as kinetree.algorithms.rnea(robot.model, q, v, a)
buildModelFromMJCF from_mjcf mj_saveModel: MJCF is not read yet; kt.load(source) reads URDF and SDF
GeometryModel GeometryData buildGeomFromUrdf computeCollisions computeDistances collision_model visual_model \
mj_geomDistance mj_collision iscollided closest_point: collision geometry is not there yet
pinv_jacobian: numpy.linalg.pinv(J); robot.differential_inverse_kinematics is damped and within the limits
copy: robots do not change, so that none has to be copied: with_limits, attach and the like return new ones
plot teach vplot display initViewer loadViewerModel MeshcatVisualizer: \
there is no viewer; robot.frame_placements(q) is what one draws
"""

"""Graphs, circuits and solvers, most of which compute in threads of rayon, TBB or their own."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

RUSTWORKX = Library(
    "rustworkx",
    environment="state",
    modules=("rustworkx",),
    back="by_value",
    setup="""
import rustworkx as rx

graph = rx.generators.grid_graph(20, 20)
_ = rx.distance_matrix(graph, parallel_threshold=1)
""",
    entries=(
        Entry("PyGraph", "x = graph", "float(rx.distance_matrix(x, parallel_threshold=1).sum())"),
        Entry("PyDiGraph", "x = rx.generators.directed_path_graph(9)", "list(rx.topological_sort(x))"),
        Entry("PyDAG", "x = rx.PyDAG(check_cycle=True); _ = x.add_nodes_from('ab')", "x.num_nodes()"),
        Entry("CentralityMapping", "x = rx.betweenness_centrality(graph, parallel_threshold=1)", "round(x[0], 9)"),
        Entry("PathLengthMapping", "x = rx.dijkstra_shortest_path_lengths(graph, 0, lambda edge: 1.0)", "x[399]"),
        Entry("NodeIndices", "x = graph.node_indices()", "sum(x)"),
        Entry("EdgeList", "x = graph.edge_list()", "len(x)"),
    ),
)

QISKIT = Library(
    "qiskit",
    environment="catalogue",
    modules=("qiskit",),
    back="by_value",
    setup="""
import qiskit
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Parameter
from qiskit.quantum_info import DensityMatrix, Operator, Pauli, SparsePauliOp, Statevector
from qiskit.transpiler import CouplingMap, generate_preset_pass_manager

line = CouplingMap.from_line(6)

def circuit():
    made = QuantumCircuit(6)
    made.h(0)
    for qubit in range(1, 6):
        made.cx(0, qubit)
    return made

def depth(made):
    settings = dict(basis_gates=["cx", "u"], coupling_map=line, optimization_level=1, seed_transpiler=1)
    return transpile(made, **settings).depth() > 5

_ = depth(circuit())
""",
    entries=(
        Entry("QuantumCircuit", "x = circuit()", "depth(x)"),
        Entry("Parameter", "x = Parameter('t')", "str(x + 1)"),
        Entry("Statevector", "x = Statevector(circuit())", "round(x.probabilities()[0], 9)"),
        Entry("DensityMatrix", "x = DensityMatrix(circuit())", "round(x.purity().real, 9)"),
        Entry("Operator", "x = Operator(QuantumCircuit(2))", "x.is_unitary()"),
        Entry("SparsePauliOp", "x = SparsePauliOp(['XX', 'ZZ'])", "x.num_qubits"),
        Entry(
            "PassManager",
            "x = generate_preset_pass_manager(1, basis_gates=['cx', 'u'], seed_transpiler=1)",
            "x.run(circuit()).num_qubits",
        ),
        Entry("CouplingMap", "x = line", "x.distance(0, 5)"),
    ),
)

HIGHSPY = Library(
    "highspy",
    environment="catalogue",
    modules=("highspy",),
    back="by_value",
    setup="""
import highspy

def model():
    made = highspy.Highs()
    made.silent()
    made.setOptionValue("threads", 2)
    made.setOptionValue("parallel", "on")
    one, two = made.addVariable(lb=0, ub=4, type=highspy.HighsVarType.kInteger), made.addVariable(lb=0, ub=9)
    made.addConstr(one + 2 * two <= 10)
    made.maximize(3 * one + two)
    return made

def solved(made):
    made.run()
    return round(made.getInfo().objective_function_value, 6)

_ = solved(model())
""",
    entries=(
        Entry("Highs", "x = model()", "solved(x)", "not", NO_VALUE),
        Entry("HighsLp", "x = model().getLp()", "x.num_col_", "not", NO_VALUE),
        Entry("a number beside it", "x = solved(model())", "x"),
    ),
)

ORTOOLS = Library(
    "ortools",
    environment="catalogue",
    modules=("ortools",),
    setup="""
from ortools.graph.python import max_flow
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

def model():
    made = cp_model.CpModel()
    one, two = made.new_int_var(0, 9, "one"), made.new_int_var(0, 9, "two")
    made.add(one + two <= 12)
    made.maximize(2 * one + two)
    return made

def solver():
    made = cp_model.CpSolver()
    made.parameters.num_workers = 4
    return made

def linear():
    made = pywraplp.Solver.CreateSolver("GLOP")
    number = made.NumVar(0, 7, "n")
    made.Maximize(3 * number)
    return made

def flow():
    made = max_flow.SimpleMaxFlow()
    made.add_arc_with_capacity(0, 1, 5)
    made.add_arc_with_capacity(1, 2, 3)
    return made

_ = solver().solve(model())
""",
    entries=(
        Entry("CpModel", "x = model()", "(lambda s: (s.solve(x), s.objective_value))(solver())[1]"),
        Entry("CpSolver", "x = solver()", "(x.solve(model()), x.objective_value)[1]"),
        Entry("pywraplp.Solver", "x = linear()", "(x.Solve(), round(x.Objective().Value(), 6))"),
        Entry("SimpleMaxFlow", "x = flow()", "(x.solve(0, 2), x.optimal_flow())[1]"),
    ),
)

OPTUNA = Library(
    "optuna",
    environment="catalogue",
    modules=("optuna",),
    setup="""
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)

def cost(trial):
    return (trial.suggest_float("a", -5, 5) - 1) ** 2

def study(**options):
    made = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=3))
    made.optimize(cost, n_trials=5, **options)
    return made
""",
    entries=(
        Entry("Study", "x = study()", "(x.optimize(cost, n_trials=2), round(x.best_value, 9))[1]"),
        Entry(
            "Study (in threads)", "x = study(n_jobs=2)", "(x.optimize(cost, n_trials=2, n_jobs=2), len(x.trials))[1]"
        ),
        Entry("FrozenTrial", "x = study().best_trial", "round(x.value, 9)"),
        Entry(
            "TPESampler",
            "x = optuna.samplers.TPESampler(seed=3)",
            "optuna.create_study(sampler=x).ask({'a': optuna.distributions.FloatDistribution(0, 1)}).number",
        ),
        Entry("Trial (asked)", "held = study(); x = held.ask()", "round(x.suggest_float('a', -5, 5), 9)"),
    ),
)

MILP = Library(
    "scipy.optimize.milp",
    environment="catalogue",
    modules=("scipy",),
    setup="import numpy as np, scipy.optimize as so\nrule = so.LinearConstraint(np.array([[1, 1]]), 0, 4)",
    entries=(
        Entry(
            "LinearConstraint",
            "x = rule",
            "float(so.milp(np.array([-2.0, -1]), constraints=x, integrality=np.ones(2)).fun)",
        ),
        Entry("result of milp", "x = so.milp(np.array([-2.0, -1]), constraints=rule)", "float(x.fun)"),
        Entry("result of linprog (HiGHS)", "x = so.linprog([1, 1], A_ub=[[-1, -2]], b_ub=[-2])", "float(x.fun)"),
    ),
)

GRAPHS_AND_SOLVERS = (RUSTWORKX, QISKIT, HIGHSPY, ORTOOLS, OPTUNA, MILP)

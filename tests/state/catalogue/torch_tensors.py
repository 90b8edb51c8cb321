"""torch on the processor: tensors, modules, optimisers and generators of numbers."""

from tests.state.catalogue.entry import NO_VALUE, SETTING, Entry, Library

TORCH = Library(
    "torch",
    environment="heavy",
    modules=("torch",),
    setup="""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
inputs = torch.arange(4096.0).reshape(1024, 4) / 4096
targets = inputs.sum(dim=1, keepdim=True)
threads = torch.get_num_threads()

def network():
    torch.manual_seed(2)
    return torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

def trained(model, optimizer):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return round(loss.item(), 6)

class Doubling(torch.nn.Module):
    def forward(self, value):
        return value * 2
""",
    entries=(
        Entry("Tensor", "x = torch.arange(360_000.0).reshape(600, 600) / 360_000", "round((x @ x).trace().item(), 2)"),
        Entry(
            "Tensor with a graph",
            "x = inputs.clone().requires_grad_()",
            "(x ** 2).sum().backward() or round(x.grad.sum().item(), 2)",
        ),
        Entry("Tensor (sparse)", "x = torch.eye(50).to_sparse()", "torch.sparse.mm(x, torch.ones(50, 1)).sum().item()"),
        Entry("Tensor (quantised to 16 bits)", "x = inputs.to(torch.bfloat16)", "round(x.float().sum().item(), 1)"),
        Entry("Tensor sharing memory with numpy", "x = torch.from_numpy(inputs.numpy())", "round(x.sum().item(), 2)"),
        Entry("nn.Module", "x = network()", "round(x(inputs).sum().item(), 3)"),
        Entry("nn.Module of the session's own", "x = Doubling()", "x(torch.ones(3)).sum().item()"),
        Entry("nn.Parameter", "x = torch.nn.Parameter(torch.ones(3))", "(x * 2).sum().item()"),
        Entry(
            "optim.Adam (under way)",
            "model = network(); x = (model, torch.optim.Adam(model.parameters()))",
            "trained(*x)",
        ),
        Entry(
            "optim.SGD (under way)",
            "other = network(); x = (other, torch.optim.SGD(other.parameters(), lr=0.1, momentum=0.9))",
            "trained(*x)",
        ),
        Entry(
            "lr_scheduler",
            "lone = torch.nn.Parameter(torch.ones(1)); x = torch.optim.lr_scheduler.StepLR("
            "torch.optim.SGD([lone], lr=1.0), 1)",
            "(x.optimizer.step(), x.step(), x.get_last_lr())",
        ),
        Entry("Generator", "x = torch.Generator().manual_seed(4)", "torch.rand(1, generator=x).item()"),
        Entry("its own random state", "torch.manual_seed(9); x = torch", "x.rand(1).item()", untold=SETTING),
        Entry("DataLoader", "x = DataLoader(TensorDataset(inputs, targets), batch_size=100)", "len(list(x))"),
        Entry(
            "DataLoader's iterator (begun)",
            "x = iter(DataLoader(TensorDataset(inputs), batch_size=100)); next(x)",
            "round(next(x)[0].sum().item(), 3)",
        ),
        Entry("state_dict", "x = network().state_dict()", "sorted(x)"),
        Entry(
            "jit.ScriptFunction", "x = torch.jit.trace(lambda v: v * 3, torch.ones(1))", "x(torch.ones(2)).sum().item()"
        ),
        Entry("fx.GraphModule", "x = torch.fx.symbolic_trace(Doubling())", "x(torch.ones(2)).sum().item()"),
        Entry(
            "distributions.Normal",
            "x = torch.distributions.Normal(0.0, 1.0)",
            "round(x.log_prob(torch.tensor(1.0)).item(), 5)",
        ),
    ),
)

TORCH_THREADS = Library(
    "torch: a number of threads that was set",
    environment="heavy",
    modules=("torch",),
    back="by_value",
    note="`torch.set_num_threads` starts threads of another kind: from then on the session comes back by value.",
    setup="import torch\ntorch.set_num_threads(2)",
    entries=(
        Entry("number of threads", "x = torch", "x.get_num_threads()", untold=SETTING),
        Entry("Tensor beside it", "x = torch.arange(360_000.0).reshape(600, 600) / 360_000", "x.sum().item() > 0"),
        Entry("nn.Module beside it", "torch.manual_seed(2); x = torch.nn.Linear(3, 1)", "x(torch.ones(3)).shape"),
    ),
)

TORCH_TASKS = Library(
    "torch: tasks in its own pool",
    environment="heavy",
    modules=("torch",),
    back="by_value",
    setup="import torch\n\n@torch.jit.script\ndef forked(n: int) -> int:\n"
    "    task = torch.jit.fork(torch.ones, [n])\n    return int(torch.jit.wait(task).sum())\n\n_ = forked(3)",
    entries=(
        Entry(
            "jit.fork",
            "x = torch.jit.fork(torch.neg, torch.ones(2))",
            "torch.jit.wait(x).sum().item()",
            "not",
            NO_VALUE,
        ),
        Entry("a function that forks", "x = forked", "x(5)", "not", NO_VALUE),
        Entry("Tensor beside tasks", "x = torch.ones(3)", "x.sum().item()"),
    ),
)

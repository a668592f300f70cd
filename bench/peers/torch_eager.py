"""W2 and W3 in PyTorch's eager mode, as its tutorials write them: modules, cross_entropy, optim.Adam."""
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import workloads  # noqa: E402
from serve import serve  # noqa: E402


def layers(workload):
    """Modules with the common initial weights, by name; dense ones store [out, in]."""
    initial, result = workloads.weights(workload), {}
    for name, shape in workloads.LAYERS[workload].items():
        is_dense = len(shape) == 2
        layer = nn.Linear(*shape) if is_dense else nn.Conv2d(shape[1], shape[0], shape[2:])
        weight = initial[f"{name}.W"]
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight.T.copy() if is_dense else weight))
            layer.bias.copy_(torch.from_numpy(initial[f"{name}.b"]))
        result[name] = layer
    return result


def network(workload):
    parts = layers(workload)
    if workload == "w2":
        return nn.Sequential(parts["hidden"], nn.ReLU(), parts["output"])
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)), parts["conv1"], nn.MaxPool2d(2), parts["conv2"], nn.MaxPool2d(2),
        nn.Flatten(), parts["hidden"], nn.ReLU(), parts["output"])


def main(workload, threads):
    torch.set_num_threads(threads)
    model = network(workload)
    optimizer = torch.optim.Adam(model.parameters(), lr=workloads.LEARNING_RATE)
    images, labels = (torch.from_numpy(a) for a in workloads.batches())
    pairs = list(zip(images, labels))
    last = [None]

    def step(i):
        image, label = pairs[i % workloads.BATCHES]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(image), label)
        loss.backward()
        optimizer.step()
        last[0] = loss

    serve(torch.__version__, step, lambda: None, lambda: float(last[0].detach()))


main(sys.argv[1], int(sys.argv[2]))

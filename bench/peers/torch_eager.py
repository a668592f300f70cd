"""W2 in PyTorch's eager mode, as its tutorials write it: modules, cross_entropy, optim.Adam."""
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import workloads  # noqa: E402
from serve import serve  # noqa: E402


def main(threads):
    torch.set_num_threads(threads)
    hidden, output = (torch.nn.Linear(*workloads.LAYERS[n]) for n in ("hidden", "output"))
    initial = workloads.weights()
    with torch.no_grad():
        for name, layer in (("hidden", hidden), ("output", output)):
            layer.weight.copy_(torch.from_numpy(initial[f"{name}.W"].T.copy()))
            layer.bias.copy_(torch.from_numpy(initial[f"{name}.b"]))
    network = torch.nn.Sequential(hidden, torch.nn.ReLU(), output)
    optimizer = torch.optim.Adam(network.parameters(), lr=workloads.LEARNING_RATE)
    images, labels = (torch.from_numpy(a) for a in workloads.batches())
    pairs = list(zip(images, labels))
    last = [None]

    def step(i):
        image, label = pairs[i % workloads.BATCHES]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(image), label)
        loss.backward()
        optimizer.step()
        last[0] = loss

    serve(torch.__version__, step, lambda: None, lambda: float(last[0].detach()))


main(int(sys.argv[1]))

"""What is measured, for every contender alike: initial weights, batches, steps.

Both train on batches of 64 Fashion-MNIST pictures with softmax cross-entropy and Adam (lr 1e-3, eps
1e-8). W2 is a 784-256-10 network with relu. W3 is LeNet: convolutions of 5x5 with 20 and 50 filters,
each followed by a 2x2 max pooling, then 500 units with relu and 10. Weights of dense layers are
stored [in, out], of convolutions [out, in, 5, 5]; all numbers are f32.
"""
# SPDX-License-Identifier: Apache-2.0
import gzip
import json
import os
import struct

import numpy as np

PICTURES = "/usr/share/datasets/fashion-mnist"
BATCHES, BATCH = 8, 64
LEARNING_RATE = 1e-3
# The shape of the weights of each layer; the bias has the size of the first or last axis.
LAYERS = {
    "w2": {"hidden": (784, 256), "output": (256, 10)},
    "w3": {"conv1": (20, 1, 5, 5), "conv2": (50, 20, 5, 5), "hidden": (800, 500), "output": (500, 10)},
}
TITLES = {
    "w2": "W2: 784-256-10",
    "w3": "W3: LeNet, 5x5 convolutions 1-20-50, 500 units",
}
# Multiply-adds of an example: of the first layer forward and weight gradient, of all others also
# the input gradient.
MULTIPLY_ADDS = {
    "w2": 2 * 784 * 256 + 3 * 256 * 10,
    "w3": 2 * 20 * 25 * 24 * 24 + 3 * (50 * 500 * 8 * 8 + 800 * 500 + 500 * 10),
}


def mflop_per_step(workload):
    return 2 * BATCH * MULTIPLY_ADDS[workload] / 1e6


def read_idx(name, header):
    with gzip.open(os.path.join(PICTURES, name)) as file:
        return np.frombuffer(file.read(), np.uint8)[header:]


def batches():
    """images [8, 64, 784] in 0..1 and labels [8, 64]: the first pictures of the training set."""
    count = BATCHES * BATCH
    images = read_idx("train-images-idx3-ubyte.gz", 16)[: count * 784]
    labels = read_idx("train-labels-idx1-ubyte.gz", 8)[:count]
    images = images.reshape(BATCHES, BATCH, 784).astype(np.float32) / np.float32(255)
    return images, labels.reshape(BATCHES, BATCH).astype(np.int64)


def weights(workload):
    """The initial parameters by name; uniform in +-1/sqrt(inputs), from a fixed seed."""
    random = np.random.default_rng(1)
    values = {}
    for layer, shape in LAYERS[workload].items():
        is_dense = len(shape) == 2
        inputs, units = (shape[0], shape[1]) if is_dense else (np.prod(shape[1:]), shape[0])
        bound = 1 / np.sqrt(inputs)
        values[f"{layer}.W"] = random.uniform(-bound, bound, shape).astype(np.float32)
        values[f"{layer}.b"] = random.uniform(-bound, bound, units).astype(np.float32)
    return values


def with_adam_states(weights):
    """The variables of a script before its first step, by their names: a file holds all or none."""
    variables = {}
    for name, value in weights.items():
        variables[f"net.{name}"] = value
        variables[f"net.{name}/adam.m"] = np.zeros_like(value)
        variables[f"net.{name}/adam.v"] = np.zeros_like(value)
        variables[f"net.{name}/adam.t"] = np.zeros((), np.int64)
    return variables


def write_safetensors(path, tensors):
    """Writes tensors in the safetensors format: header size, JSON header, data."""
    names = {np.dtype(np.float32): "F32", np.dtype(np.int64): "I64"}
    header, offset = {}, 0
    for name, value in tensors.items():
        end = offset + value.nbytes
        header[name] = {"dtype": names[value.dtype], "shape": list(value.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(value.tobytes())

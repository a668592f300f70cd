"""What is measured, for every contender alike: initial weights, batches, steps.

W2 is a 784-256-10 network with relu, softmax cross-entropy and Adam (lr 1e-3, eps 1e-8) on batches
of 64 Fashion-MNIST pictures. Weights are stored [in, out]; all numbers are f32.
"""
# SPDX-License-Identifier: Apache-2.0
import gzip
import json
import os
import struct

import numpy as np

PICTURES = "/usr/share/datasets/fashion-mnist"
BATCHES, BATCH = 8, 64
LAYERS = {"hidden": (784, 256), "output": (256, 10)}
LEARNING_RATE = 1e-3
# Products of a step: forward, weight gradient, and the input gradient of all layers but the first.
MFLOP_PER_STEP = 2 * BATCH * (2 * 784 * 256 + 3 * 256 * 10) / 1e6


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


def weights():
    """The initial parameters by name; uniform in +-1/sqrt(inputs), from a fixed seed."""
    random = np.random.default_rng(1)
    values = {}
    for layer, (inputs, units) in LAYERS.items():
        bound = 1 / np.sqrt(inputs)
        values[f"{layer}.W"] = random.uniform(-bound, bound, (inputs, units)).astype(np.float32)
        values[f"{layer}.b"] = random.uniform(-bound, bound, units).astype(np.float32)
    return values


def with_adam_states(weights):
    """The variables of w2.pdg before its first step, by their names: a file holds all or none."""
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

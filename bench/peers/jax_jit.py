"""W2 and W3 in JAX: one jitted function per step that takes and gives back (donated) all state.

XLA sizes its pool of threads by the cores that the process may use; the benchmark sets those.
"""
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import sys

import jax
import jax.numpy as jnp

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import workloads  # noqa: E402
from serve import serve  # noqa: E402


def convolve(params, name, x):
    y = jax.lax.conv_general_dilated(x, params[f"{name}.W"], (1, 1), "VALID")
    return y + params[f"{name}.b"][:, None, None]


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def loss_of(params, image, label):
    features = image
    if "conv1.W" in params:
        x = image.reshape(-1, 1, 28, 28)
        for name in ("conv1", "conv2"):
            x = max_pool(convolve(params, name, x))
        features = x.reshape(x.shape[0], -1)
    hidden = jnp.maximum(features @ params["hidden.W"] + params["hidden.b"], 0)
    logits = hidden @ params["output.W"] + params["output.b"]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), label[:, None], axis=1)
    return -chosen.mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, image, label):
    params, first, second, count = state
    loss, grads = jax.value_and_grad(loss_of)(params, image, label)
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
    scale1 = 1 - 0.9 ** count.astype(jnp.float32)
    scale2 = 1 - 0.999 ** count.astype(jnp.float32)
    params = jax.tree.map(
        lambda p, m, v: p - workloads.LEARNING_RATE * (m / scale1) / (jnp.sqrt(v / scale2) + 1e-8),
        params, first, second)
    return (params, first, second, count), loss


def main(workload):
    params = {name: jnp.asarray(value) for name, value in workloads.weights(workload).items()}
    zeros = lambda: jax.tree.map(jnp.zeros_like, params)  # noqa: E731
    state = [(params, zeros(), zeros(), jnp.zeros((), jnp.int32)), None]
    pairs = [(jnp.asarray(x), jnp.asarray(y, jnp.int32)) for x, y in zip(*workloads.batches())]

    def step(i):
        state[0], state[1] = train_step(state[0], *pairs[i % workloads.BATCHES])

    serve(jax.__version__, step, lambda: jax.block_until_ready(state), lambda: float(state[1]))


main(sys.argv[1])

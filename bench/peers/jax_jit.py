"""W2 in JAX: one jitted function per step that takes and gives back (donated) all state.

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


def loss_of(params, image, label):
    hidden = jnp.maximum(image @ params["hidden.W"] + params["hidden.b"], 0)
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


def main():
    params = {name: jnp.asarray(value) for name, value in workloads.weights().items()}
    zeros = lambda: jax.tree.map(jnp.zeros_like, params)  # noqa: E731
    state = [(params, zeros(), zeros(), jnp.zeros((), jnp.int32)), None]
    pairs = [(jnp.asarray(x), jnp.asarray(y, jnp.int32)) for x, y in zip(*workloads.batches())]

    def step(i):
        state[0], state[1] = train_step(state[0], *pairs[i % workloads.BATCHES])

    serve(jax.__version__, step, lambda: jax.block_until_ready(state), lambda: float(state[1]))


main()

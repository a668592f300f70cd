"""How a peer is asked to work: one number of steps per line in, one JSON object per line out."""
# SPDX-License-Identifier: Apache-2.0
import json
import sys
import time


def serve(version, step, wait, loss):
    """Answers requests until the input ends.

    step(i) does training step i (on batch i % 8), wait() returns when everything asked for is
    done, loss() is the loss of the last step as a float. Step numbers go on over requests.
    """
    print(json.dumps({"version": version}), flush=True)
    at = 0
    for line in sys.stdin:
        count = int(line)
        start = time.perf_counter()
        for i in range(at, at + count):
            step(i)
        wait()
        seconds = time.perf_counter() - start
        at += count
        print(json.dumps({"seconds": seconds, "loss": loss()}), flush=True)

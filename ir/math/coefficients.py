"""Derives the polynomials of ir/math: prints each as C++ literals with its error.

Run with Python 3 and mpmath: `python3 coefficients.py [name ...]`. The coefficients in the headers
are its output; it is not part of the build.
SPDX-License-Identifier: Apache-2.0

Method: Remez's exchange algorithm on a grid of Chebyshev points, in 60 digits. Coefficients are
rounded to the format; on one side of 0 one after the other, lowest degree first, and the later ones
are fitted again to what the rounding left.
"""
import struct
import sys
from mpmath import mp, mpf, cos, pi, log, exp, erf, erfc, sin, sqrt, matrix, lu_solve, log1p, tanh

mp.dps = 60


def round_to(x, bits):
    if bits == 32:
        return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])
    return mpf(float(x))


def literal(c):
    mantissa, exponent = float(c).hex().split("p")
    return mantissa.rstrip("0") + "p" + exponent if "." in mantissa else mantissa + "p" + exponent


def grid_of(lo, hi, count):
    return [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (i + mpf(1) / 2) / count) for i in range(count)]


def remez(xs, fs, ws, fixed, degree):
    """Fits sum(c[k] x^k) to fs with weights ws; the first len(fixed) coefficients are given."""
    first = len(fixed)
    n = degree + 1 - first
    rest = [f - sum(c * x**k for k, c in enumerate(fixed)) for x, f in zip(xs, fs)]
    picks = [round(i * (len(xs) - 1) / n) for i in range(n + 1)]
    best = None
    for _ in range(40):
        a = matrix(n + 1, n + 1)
        b = matrix(n + 1, 1)
        for row, p in enumerate(picks):
            power = xs[p] ** first
            for col in range(n):
                a[row, col] = power * ws[p]
                power *= xs[p]
            a[row, n] = (-1) ** row
            b[row] = rest[p] * ws[p]
        solution = lu_solve(a, b)
        cs = [solution[k] for k in range(n)]
        errors = []
        for x, r, w in zip(xs, rest, ws):
            value = mpf(0)
            for c in reversed(cs):
                value = value * x + c
            errors.append((r - value * x**first) * w)
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, cs)
        # The new reference: the largest error of each run of equal sign.
        runs = []
        for i, e in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n + 1:
            if len(runs) == n + 2:
                runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
            else:
                weakest = min(range(len(runs)), key=lambda k: abs(errors[runs[k]]))
                if 0 < weakest < len(runs) - 1:
                    runs.pop(weakest)
                    left, right = runs[weakest - 1], runs[weakest]
                    runs.pop(weakest if abs(errors[left]) > abs(errors[right]) else weakest - 1)
                else:
                    runs.pop(weakest)
        if len(runs) < n + 1 or runs == picks:
            break
        picks = runs
    return best


def fit(name, f, weight, lo, hi, degree, bits, count=None):
    lo, hi = mpf(lo), mpf(hi)
    xs = grid_of(lo, hi, count or 24 * (degree + 2))
    fs = [f(x) for x in xs]
    ws = [weight(x) for x in xs]
    fixed = []
    ideal = None
    while len(fixed) <= degree:
        worst, cs = remez(xs, fs, ws, fixed, degree)
        ideal = ideal or worst
        # Around 0 the higher powers alone are no Chebyshev system: round all at once.
        fixed += [round_to(c, bits) for c in (cs if lo < 0 else cs[:1])]
    error = max(
        abs((sum(c * x**k for k, c in enumerate(fixed)) - v) * w) for x, v, w in zip(xs, fs, ws)
    )
    print(f"// {name}: [{float(lo):.6g}, {float(hi):.6g}], error 2^{float(log(error, 2)):.1f} "
          f"(before rounding 2^{float(log(ideal, 2)):.1f})")
    suffix = "f" if bits == 32 else ""
    print(",\n".join(f"    {literal(c)}{suffix}" for c in fixed))


def series(f_taylor):
    """A function from its Taylor coefficients, for arguments where the closed form cancels."""
    def value(x):
        return sum(c * x**k for k, c in enumerate(f_taylor))
    return value


HALF_LN2 = log(2) / 2 * mpf("1.001")
ROOT = sqrt(2) - 1
S_MAX = (ROOT / (2 + ROOT)) ** 2 * mpf("1.001")

# exp(r) = 1 + r + r^2 q(r)
EXP_Q = series([1 / mp.factorial(k + 2) for k in range(45)])
# log(1 + f) = f - f^2/2 + f^3 p(f)
def log_p(f):
    if abs(f) < mpf("1e-6"):
        return mpf(1) / 3 - f / 4 + f * f / 5
    return (log1p(f) - f + f * f / 2) / f**3
# log((1+s)/(1-s)) = 2s + s z t(z), z = s^2
LOG_T = series([mpf(2) / (2 * k + 3) for k in range(60)])
# ... = 2s + (2/3) s^3 + s^5 u(z)
LOG_U = series([mpf(2) / (2 * k + 5) for k in range(60)])
# log2((1+s)/(1-s)) = s v(z)
LOG2_V = series([2 / log(2) / (2 * k + 1) for k in range(60)])
# 2^r = 1 + r e(r)
EXP2_E = series([log(2) ** (k + 1) / mp.factorial(k + 1) for k in range(45)])
# sin r = r + r z s(z), cos r = 1 - z/2 + z^2 c(z), z = r^2
SIN_S = series([(-1) ** (k + 1) / mp.factorial(2 * k + 3) for k in range(30)])
COS_C = series([(-1) ** k / mp.factorial(2 * k + 4) for k in range(30)])
PI4 = (pi / 4) ** 2 * mpf("1.001")
# atan t = t + t z p(z), z = t^2, for t up to tan(pi/8)
ATAN_P = series([mpf((-1) ** (k + 1)) / (2 * k + 3) for k in range(90)])
ATAN_MAX = ROOT ** 2 * mpf("1.001")
# erf x = x + x p(z), z = x^2
ERF_P = series([2 / sqrt(pi) - 1] +
               [2 / sqrt(pi) * (-1) ** k / (mp.factorial(k) * (2 * k + 1)) for k in range(1, 70)])


def erf_weight(z):
    x = sqrt(z) if z > 0 else mpf(0)
    return x / erf(x) if x > mpf("1e-20") else sqrt(pi) / 2


def tanh_p(z):
    # tanh x = x + x z p(z), z = x^2
    return (tanh(sqrt(z)) / sqrt(z) - 1) / z


def tanh_weight(z):
    return z * sqrt(z) / tanh(sqrt(z))


def erfc_fit(name, centre, lo, hi, degree, bits):
    # erf x = 1 - exp(g(x - centre)) for x >= 1
    fit(name, lambda t: log(erfc(t + centre)), lambda t: erfc(t + centre) / erf(t + centre),
        lo - centre, hi - centre, degree, bits)


FITS = {
    "exp32": lambda n: fit(n, EXP_Q, abs, -HALF_LN2, HALF_LN2, 4, 32),
    "exp64": lambda n: fit(n, EXP_Q, abs, -HALF_LN2, HALF_LN2, 9, 64),
    "log32": lambda n: fit(n, log_p, lambda f: f * f, -ROOT / sqrt(2) * 1.001, ROOT * 1.001, 7, 32),
    "log64": lambda n: fit(n, LOG_T, lambda z: z / 2, 0, S_MAX, 6, 64),
    "pow_log64": lambda n: fit(n, LOG_U, lambda z: z * z / 2, 0, S_MAX, 7, 64),
    "pow_log32": lambda n: fit(n, LOG2_V, lambda z: log(2) / 2, 0, S_MAX, 5, 64),
    "pow_exp32": lambda n: fit(n, EXP2_E, abs, -0.501, 0.501, 6, 64),
    "sin32": lambda n: fit(n, SIN_S, lambda z: z, 0, PI4, 2, 64),
    "cos32": lambda n: fit(n, COS_C, lambda z: z * z * sqrt(2), 0, PI4, 2, 64),
    "sin64": lambda n: fit(n, SIN_S, lambda z: z, 0, PI4, 5, 64),
    "cos64": lambda n: fit(n, COS_C, lambda z: z * z * sqrt(2), 0, PI4, 5, 64),
    "atan32": lambda n: fit(n, ATAN_P, lambda z: z, 0, ATAN_MAX, 5, 64),
    "atan64": lambda n: fit(n, ATAN_P, lambda z: z, 0, ATAN_MAX, 11, 64),
    "erf32": lambda n: fit(n, ERF_P, erf_weight, 0, 1, 6, 32),
    "erf64": lambda n: fit(n, ERF_P, erf_weight, 0, 1, 12, 64),
    "tanh32": lambda n: fit(n, tanh_p, tanh_weight, 0, mpf("0.36"), 4, 32),
    "tanh64": lambda n: fit(n, tanh_p, tanh_weight, 0, mpf("0.36"), 10, 64),
    "erfc32": lambda n: erfc_fit(n, 1, mpf(1), mpf("3.93"), 6, 32),
    "erfc64": lambda n: erfc_fit(n, 1, mpf(1), mpf("5.93"), 17, 64),
}

for wanted in sys.argv[1:] or FITS:
    FITS[wanted](wanted)

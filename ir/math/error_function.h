// The error function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/exponential.h"

namespace pdg {

/// erf in F32: x + x p(x^2) below 1, from there 1 - exp(g(x - 1)) with g near log(erfc). The
/// relative error of erfc, up to 0.16, matters the less the larger x is. p, g: coefficients.py
/// erf32, erfc32.
template <MathValue V> V erf32(V x) {
  V a = abs(x);
  V z = select(a < 1.0, a * a, 1.0);
  V small = fma(a,
                horner(z, {0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2ce6p-4, -0x1.b7f71ap-6,
                           0x1.53f224p-8, -0x1.a3515ep-11, 0x1.4771fep-14}),
                a);
  V g = horner(select(a > 3.93, x.like(3.93), a) - 1.0,
               {-0x1.d97fcp+0, -0x1.51c988p+1, -0x1.afb44cp-1, -0x1.520894p-5, 0x1.360f38p-7,
                -0x1.87dad2p-10, 0x1.8ffc1ap-14});
  return copysign(select(a < 1.0, small, 1.0 - expInside32(g)), x);
}

/// erf in F64, as `erf32`. p, g: coefficients.py erf64, erfc64.
template <MathValue V> V erf64(V x) {
  V a = abs(x);
  V z = select(a < 1.0, a * a, 1.0);
  V small = fma(a,
                horner(z, {0x1.06eba8214db69p-3, -0x1.812746b037a25p-2, 0x1.ce2f21a0458ep-4,
                           -0x1.b82ce31355182p-6, 0x1.565bcd2c73355p-8, -0x1.c02db936df278p-11,
                           0x1.f9a3b9d877553p-14, -0x1.f4dcfd069100ap-17, 0x1.ba69befa75703p-20,
                           -0x1.639711514342ep-23, 0x1.1345e0915ac91p-26, -0x1.c5b3e4f5ac934p-30,
                           0x1.3d0c3c55a90e3p-33}),
                a);
  V g = horner(select(a > 5.93, x.like(5.93), a) - 1.0,
               {-0x1.d97fbf27aa2a1p+0, -0x1.51c9b0006c22cp+1, -0x1.afabc11a2a516p-1,
                -0x1.5477f09a6b81cp-5, 0x1.48c9d39971d3dp-7, -0x1.033f5c4d1956p-9,
                0x1.f1b0cc46791f3p-13, 0x1.b923b24afcc2fp-16, -0x1.c8409b2f15101p-16,
                0x1.4455d6bf43517p-17, -0x1.1d747caddd722p-19, 0x1.b029bd832935cp-23,
                0x1.00f7595b23fa3p-24, -0x1.2490bfa1df03ap-25, 0x1.2a9b578b9272ep-27,
                -0x1.72a6404970c5fp-30, 0x1.0cef5931ac797p-33, -0x1.5fdd0961e7b74p-38});
  return copysign(select(a < 1.0, small, 1.0 - expInside64(g)), x);
}

/// Returns the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
template <MathValue V> V erf(V x) {
  return byWidth(x, [](auto v) { return erf32(v); }, [](auto v) { return erf64(v); });
}

} // namespace pdg

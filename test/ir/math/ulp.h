// Measures the error of a result in units in the last place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

namespace pdg::test {

/// The distance of neighbouring numbers of T around `x`.
template <class T> long double spacing(long double x) {
  using Limits = std::numeric_limits<T>;
  int exponent = Limits::min_exponent;
  if (x != 0)
    std::frexp(x, &exponent);
  return std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
}

/// The error of `got` against the more precise `exact`, in spacings of T. Infinite if they differ
/// in being NaN, or in the sign of zero; an infinity counts as the first power of two beyond T.
template <class T> long double ulpError(T got, long double exact) {
  T rounded = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(rounded))
    return std::isnan(got) == std::isnan(rounded) ? 0 : INFINITY;
  if (got == rounded)
    return std::signbit(got) != std::signbit(rounded) ? INFINITY
           : std::isinf(got)                          ? 0
                                                      : std::fabs(got - exact) / spacing<T>(exact);
  if (std::isinf(exact))
    return INFINITY;
  if (!std::isinf(got))
    return std::fabs(got - exact) / spacing<T>(exact);
  long double edge = std::ldexp(1.0L, std::numeric_limits<T>::max_exponent);
  return std::fabs(std::copysign(edge, static_cast<long double>(got)) - exact) /
         spacing<T>(edge / 2);
}

} // namespace pdg::test

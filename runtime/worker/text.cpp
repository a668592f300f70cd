// Formatting of scalars and of nested tensors into a string that its owner keeps.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

namespace pdg {

namespace {

// Longer tensors are abridged to kEdge elements at each end of every longer axis.
constexpr int64_t kMaxShown = 1000;
constexpr int64_t kEdge = 3;

// More digits than any f64 has; gives the buffers below a fixed size.
constexpr int64_t kMaxPrecision = 1000;
constexpr size_t kMaxCharacters = kMaxPrecision + 400;

template <typename T> T load(const char *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <typename T> void appendInteger(T value, std::string &out) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
}

// Lays out "d.ddde+xx", a number >= 0, as Python does: without an exponent where that is short, and
// always so that the text is seen to be a float.
void appendLaidOut(std::string_view scientific, std::string &out) {
  size_t e = scientific.find('e');
  const char *sign = scientific.data() + e + 1;
  int exponent = 0;
  std::from_chars(sign + (*sign == '+'), scientific.data() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += scientific;
    return;
  }
  std::string_view fraction = e > 2 ? scientific.substr(2, e - 2) : std::string_view();
  if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0');
    out += scientific[0];
    out += fraction;
    return;
  }
  size_t whole = std::min(fraction.size(), static_cast<size_t>(exponent));
  out += scientific[0];
  out += fraction.substr(0, whole);
  out.append(static_cast<size_t>(exponent) - whole, '0') += '.';
  fraction.remove_prefix(whole);
  out += fraction.empty() ? std::string_view("0") : fraction;
}

// The shortest text of f32 and f64. `value` >= 0.
template <typename T> void appendShortest(T value, std::string &out) {
  char buffer[64];
  auto end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific).ptr;
  appendLaidOut(std::string_view(buffer, static_cast<size_t>(end - buffer)), out);
}

// The two formats of 16 bits.
struct SmallFloat {
  int mantissaBits;
  int bias;

  // The value of a bit pattern without sign. The pattern of infinity gives the power of two that
  // would follow the largest number.
  double magnitude(int bits) const {
    int exponent = bits >> mantissaBits, mantissa = bits & ((1 << mantissaBits) - 1);
    if (exponent == 0)
      return std::ldexp(mantissa, 1 - bias - mantissaBits);
    return std::ldexp((1 << mantissaBits) + mantissa, exponent - bias - mantissaBits);
  }

  double value(int bits) const {
    int infinity = (2 * bias + 1) << mantissaBits, absolute = bits & 0x7fff;
    double result = absolute < infinity    ? magnitude(absolute)
                    : absolute == infinity ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
    return bits & 0x8000 ? -result : result;
  }
};

constexpr SmallFloat kF16 = {10, 15};
constexpr SmallFloat kBF16 = {7, 127};

// The shortest text of a finite number of 16 bits: the first that lies between the midpoints to its
// neighbours. All numbers involved are exact in f64.
void appendShortestSmall(SmallFloat type, int bits, std::string &out) {
  double value = type.magnitude(bits);
  double low = bits == 0 ? -1 : (type.magnitude(bits - 1) + value) / 2;
  double high = (value + type.magnitude(bits + 1)) / 2;
  char buffer[64];
  for (int digits = 0;; ++digits) {
    auto end =
        std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific, digits);
    double read = 0;
    std::from_chars(buffer, end.ptr, read);
    if ((low < read && read < high) || digits == 20)
      return appendLaidOut(std::string_view(buffer, static_cast<size_t>(end.ptr - buffer)), out);
  }
}

void appendWithPrecision(const ValueFormat &format, double value, std::string &out) {
  char buffer[kMaxCharacters];
  int precision = static_cast<int>(std::min(format.precision, kMaxPrecision));
  auto style = format.significant ? std::chars_format::general : std::chars_format::fixed;
  out.append(buffer, std::to_chars(buffer, std::end(buffer), value, style, precision).ptr);
}

void appendFloat(const ValueFormat &format, const char *element, std::string &out) {
  bool isSmall = format.dtype == DType::F16 || format.dtype == DType::BF16;
  SmallFloat small = format.dtype == DType::F16 ? kF16 : kBF16;
  int bits = isSmall ? load<uint16_t>(element) : 0;
  double value = isSmall                      ? small.value(bits)
                 : format.dtype == DType::F32 ? static_cast<double>(load<float>(element))
                                              : load<double>(element);
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::signbit(value))
    out += '-';
  value = std::fabs(value);
  if (std::isinf(value))
    out += "inf";
  else if (format.precision >= 0)
    appendWithPrecision(format, value, out);
  else if (isSmall)
    appendShortestSmall(small, bits & 0x7fff, out);
  else if (format.dtype == DType::F32)
    appendShortest(static_cast<float>(value), out);
  else
    appendShortest(value, out);
}

void appendElement(const ValueFormat &format, const char *element, std::string &out) {
  switch (format.dtype) {
  case DType::Bool:
    out += load<uint8_t>(element) ? "true" : "false";
    return;
  case DType::I32:
    return appendInteger(load<int32_t>(element), out);
  case DType::I64:
    return appendInteger(load<int64_t>(element), out);
  case DType::U8:
    return appendInteger(load<uint8_t>(element), out);
  case DType::I8:
    return appendInteger(load<int8_t>(element), out);
  case DType::F32:
  case DType::F64:
  case DType::BF16:
  case DType::F16:
    return appendFloat(format, element, out);
  }
}

size_t appendPadded(const ValueFormat &format, const char *element, size_t width,
                    std::string &out) {
  size_t begin = out.size();
  appendElement(format, element, out);
  size_t length = out.size() - begin;
  if (length < width)
    out.insert(begin, width - length, ' ');
  return length;
}

// Prints one tensor of at least one axis.
class TensorText {
public:
  TensorText(const ValueFormat &format, const char *data, const int64_t *dims, std::string &out)
      : format_(format), data_(data), dims_(dims), width_(static_cast<size_t>(format.width)),
        out_(out) {
    for (int64_t axis = 0; axis < format.rank; ++axis)
      elements_ *= dims[axis];
  }

  void append() {
    appendType();
    if (elements_ == 0) {
      out_ += " []";
      return;
    }
    out_ += format_.rank == 1 ? ' ' : '\n';
    if (format_.rank > 1) {
      // Columns line up: a first pass, whose text is dropped, finds the widest element.
      size_t begin = out_.size();
      appendAxis(0, data_);
      out_.resize(begin);
      width_ = std::max(width_, widest_);
    }
    appendAxis(0, data_);
  }

private:
  void appendType() {
    out_ += nameOf(format_.dtype);
    for (int64_t axis = 0; axis < format_.rank; ++axis) {
      out_ += axis == 0 ? "[" : ", ";
      appendInteger(dims_[axis], out_);
    }
    out_ += ']';
  }

  void appendAxis(int64_t axis, const char *begin) {
    if (axis == format_.rank) {
      widest_ = std::max(widest_, appendPadded(format_, begin, width_, out_));
      return;
    }
    int64_t stride = static_cast<int64_t>(sizeOf(format_.dtype));
    for (int64_t inner = axis + 1; inner < format_.rank; ++inner)
      stride *= dims_[inner];
    bool abridged = elements_ > kMaxShown && dims_[axis] > 2 * kEdge;
    out_ += '[';
    for (int64_t i = 0; i < dims_[axis]; ++i) {
      if (i > 0)
        appendSeparator(axis);
      if (abridged && i == kEdge) {
        out_ += "...";
        appendSeparator(axis);
        i = dims_[axis] - kEdge;
      }
      appendAxis(axis + 1, begin + i * stride);
    }
    out_ += ']';
  }

  // Rows stand under each other; outer axes leave blank lines.
  void appendSeparator(int64_t axis) {
    out_ += ',';
    size_t newlines = static_cast<size_t>(format_.rank - 1 - axis);
    out_.append(newlines, '\n');
    out_.append(newlines == 0 ? 1 : static_cast<size_t>(axis + 1), ' ');
  }

  const ValueFormat &format_;
  const char *data_;
  const int64_t *dims_;
  int64_t elements_ = 1;
  size_t width_;
  size_t widest_ = 0;
  std::string &out_;
};

} // namespace

void appendValue(const ValueFormat &format, const char *value, const int64_t *dims,
                 std::string &out) {
  if (format.rank == 0)
    appendPadded(format, value, static_cast<size_t>(format.width), out);
  else
    TensorText(format, value, dims, out).append();
}

void appendText(const TextSite &site, const char *const *values, const int64_t *dims,
                std::string &out) {
  for (size_t i = 0; i < site.segments.size(); ++i) {
    out += site.segments[i];
    if (i >= site.values.size())
      continue;
    appendValue(site.values[i], values[i], dims, out);
    dims += site.values[i].rank;
  }
}

} // namespace pdg

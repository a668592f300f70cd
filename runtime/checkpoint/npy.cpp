// Reads and writes .npy: a magic number, a dictionary in Python's notation, the elements.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/npy.h"

#include "runtime/checkpoint/file.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace pdg {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// NumPy itself refuses longer ones by default.
constexpr uint64_t kMaxHeader = 10000;

// NumPy allows no more; keeps error messages and loops small.
constexpr size_t kMaxRank = 32;

// The dictionary as it is written.
struct HeaderText {
  std::string descr;
  bool isColumnMajor = false;
  std::vector<int64_t> shape;
};

// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }". Knows only what such a
// dictionary may hold; anything else ends in an error that says what was expected.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  // Returns what was expected where the text is wrong, or nothing.
  std::optional<std::string> parse(HeaderText &header) {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!take('{'))
      return "'{'";
    while (!take('}')) {
      std::string key;
      if (!takeString(key) || !take(':'))
        return "a key and ':'";
      if (key == "descr" && !hasDescr) {
        if (!(hasDescr = takeString(header.descr)))
          return "a type code as 'descr' (records are not supported)";
      } else if (key == "fortran_order" && !hasOrder) {
        if (!(hasOrder = takeBool(header.isColumnMajor)))
          return "True or False";
      } else if (key == "shape" && !hasShape) {
        if (!(hasShape = takeShape(header.shape)))
          return "a tuple of sizes";
      } else {
        return "the keys 'descr', 'fortran_order' and 'shape', once each";
      }
      if (!take(',') && peek() != '}')
        return "',' or '}'";
    }
    if (!hasDescr || !hasOrder || !hasShape)
      return "the keys 'descr', 'fortran_order' and 'shape'";
    return std::nullopt;
  }

private:
  char peek() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n'))
      text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_[0];
  }

  bool take(char wanted) {
    if (peek() != wanted)
      return false;
    text_.remove_prefix(1);
    return true;
  }

  bool takeWord(std::string_view word) {
    peek();
    if (text_.substr(0, word.size()) != word)
      return false;
    text_.remove_prefix(word.size());
    return true;
  }

  bool takeString(std::string &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos)
      return false;
    value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  bool takeBool(bool &value) {
    value = takeWord("True");
    return value || takeWord("False");
  }

  bool takeSize(int64_t &value) {
    value = 0;
    char digit = peek();
    if (digit < '0' || digit > '9')
      return false;
    for (; !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; text_.remove_prefix(1))
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[0] - '0', &value))
        return false;
    takeWord("L"); // Python 2 wrote long integers so.
    return true;
  }

  bool takeShape(std::vector<int64_t> &shape) {
    if (!take('('))
      return false;
    while (!take(')')) {
      if (shape.size() == kMaxRank || !takeSize(shape.emplace_back()))
        return false;
      if (!take(',') && peek() != ')')
        return false;
    }
    return true;
  }

  std::string_view text_;
};

std::string knownDescrs() {
  std::string list;
#define PDG_DTYPE_DESCR(enumerator, name, size, descr) absl::StrAppend(&list, " ", descr);
  PDG_DTYPES(PDG_DTYPE_DESCR)
#undef PDG_DTYPE_DESCR
  return list;
}

// NumPy loses the order mark of types that it does not know: bf16 comes back as "|V2".
std::optional<DType> typeOf(std::string descr, bool &isSwapped) {
  isSwapped = false;
  if (std::optional<DType> dtype = parseNumpyDescr(descr))
    return dtype;
  if (descr.empty() || descr[0] != '>')
    return std::nullopt;
  descr[0] = '<';
  isSwapped = true;
  return parseNumpyDescr(descr);
}

void swapBytes(HostTensor &tensor) {
  size_t size = sizeOf(tensor.dtype());
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    uint8_t *element = tensor.bytes() + static_cast<size_t>(i) * size;
    std::reverse(element, element + size);
  }
}

absl::StatusOr<HostTensor> transposed(const HostTensor &from) {
  absl::StatusOr<HostTensor> to = HostTensor::create(from.dtype(), from.shape());
  if (to.ok())
    copyToRowMajor(from.bytes(), from.shape(), sizeOf(from.dtype()), to->bytes());
  return to;
}

// Reads up to the first element. Returns the number of bytes read.
absl::StatusOr<uint64_t> readHeader(const std::string &name, uint64_t size, const ReadExactly &read,
                                    HeaderText &header) {
  uint8_t start[12] = {};
  uint64_t used = 10;
  if (size < used)
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", size, " bytes are no .npy file"));
  if (absl::Status status = read(start, used); !status.ok())
    return status;
  if (std::string_view(reinterpret_cast<char *>(start), 6) != kMagic)
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": expected a .npy file, which begins with \\x93NUMPY"));
  int version = start[6];
  if (version < 1 || version > 3)
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": expected .npy format 1, 2 or 3, found ", version));
  uint64_t length = start[8] | uint64_t{start[9]} << 8;
  if (version > 1) {
    if (size < 12)
      return absl::DataLossError(absl::StrCat(name, ": the file ends inside its header"));
    if (absl::Status status = read(start + 10, 2); !status.ok())
      return status;
    used = 12;
    length |= uint64_t{start[10]} << 16 | uint64_t{start[11]} << 24;
  }
  if (length > kMaxHeader || length > size - used)
    return absl::DataLossError(absl::StrCat(
        name, ": a header of ", length, " bytes does not fit into the file of ", size, " bytes"));
  std::string text(length, '\0');
  if (absl::Status status = read(text.data(), length); !status.ok())
    return status;
  if (std::optional<std::string> expected = HeaderParser(text).parse(header))
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": damaged .npy header: expected ", *expected));
  return used + length;
}

} // namespace

void copyToRowMajor(const uint8_t *from, std::span<const int64_t> shape, size_t elementSize,
                    uint8_t *to) {
  std::vector<size_t> index(shape.size()), strides;
  size_t count = 1;
  for (int64_t size : shape) {
    strides.push_back(count * elementSize);
    count *= static_cast<size_t>(size);
  }
  size_t offset = 0; // Of `index` in `from`.
  for (uint8_t *end = to + count * elementSize; to != end; to += elementSize) {
    std::memcpy(to, from + offset, elementSize);
    for (size_t axis = index.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < static_cast<size_t>(shape[axis]))
        break;
      offset -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

std::string makeNpyHeader(DType dtype, const std::vector<int64_t> &shape) {
  std::string text = absl::StrCat("{'descr': '", std::string(numpyDescr(dtype)),
                                  "', 'fortran_order': False, 'shape': (");
  for (size_t axis = 0; axis < shape.size(); ++axis)
    absl::StrAppend(&text, axis ? ", " : "", shape[axis]);
  text += shape.size() == 1 ? ",), }" : "), }";
  // Format 1: the length has two bytes. A header of kMaxRank sizes stays far below that.
  size_t padding = 63 - (10 + text.size()) % 64;
  text.append(padding, ' ') += '\n';
  std::string header = std::string(kMagic) + std::string("\1\0", 2);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

absl::StatusOr<NpyHeader> parseNpyHeader(const std::string &name, uint64_t size,
                                         const ReadExactly &read) {
  HeaderText text;
  absl::StatusOr<uint64_t> used = readHeader(name, size, read, text);
  if (!used.ok())
    return used.status();
  NpyHeader header;
  std::optional<DType> dtype = typeOf(text.descr, header.isBigEndian);
  if (!dtype)
    return absl::InvalidArgumentError(absl::StrCat(name, ": elements of type '", text.descr,
                                                   "' are not supported; expected one of",
                                                   knownDescrs()));
  header.dtype = *dtype;
  header.isColumnMajor = text.isColumnMajor;
  header.shape = std::move(text.shape);
  header.numBytes = *used;
  return header;
}

absl::StatusOr<HostTensor> parseNpy(const std::string &name, uint64_t size,
                                    const ReadExactly &read) {
  absl::StatusOr<NpyHeader> parsed = parseNpyHeader(name, size, read);
  if (!parsed.ok())
    return parsed.status();
  const NpyHeader &header = *parsed;
  absl::StatusOr<int64_t> numBytes = countBytes(header.dtype, header.shape);
  if (!numBytes.ok())
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", numBytes.status().message()));
  if (static_cast<uint64_t>(*numBytes) != size - header.numBytes)
    return absl::DataLossError(
        absl::StrCat(name, ": expected ", *numBytes, " bytes of elements for ",
                     typeString(header.dtype, header.shape), ", found ", size - header.numBytes));
  absl::StatusOr<HostTensor> tensor = HostTensor::create(header.dtype, header.shape);
  if (!tensor.ok())
    return tensor;
  if (absl::Status status = read(tensor->bytes(), static_cast<uint64_t>(*numBytes)); !status.ok())
    return status;
  if (header.isBigEndian)
    swapBytes(*tensor);
  // Code relies on 0 and 1; NumPy takes any other byte for true.
  if (header.dtype == DType::Bool)
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      tensor->bytes()[i] = tensor->bytes()[i] != 0;
  if (header.isColumnMajor && tensor->rank() > 1)
    return transposed(*tensor);
  return tensor;
}

absl::StatusOr<HostTensor> readNpy(const std::string &path) {
  absl::StatusOr<RandomAccessFile> file = RandomAccessFile::open(path);
  if (!file.ok())
    return file.status();
  uint64_t offset = 0;
  return parseNpy(path, file->size(), [&](void *to, uint64_t size) {
    uint64_t begin = offset;
    offset += size;
    return file->readAt(begin, to, size);
  });
}

absl::Status writeNpy(const std::string &path, const HostTensor &tensor) {
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(makeNpyHeader(tensor.dtype(), tensor.shape()));
      !status.ok())
    return status;
  if (absl::Status status = file->append(tensor.bytes(), static_cast<uint64_t>(tensor.numBytes()));
      !status.ok())
    return status;
  return file->commit();
}

} // namespace pdg

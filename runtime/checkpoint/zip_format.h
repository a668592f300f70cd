// The records of the zip format that .npz needs, as offsets into their bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace pdg::zip {

// Signatures and lengths (without names and extra fields) of the records.
inline constexpr uint32_t kLocalSignature = 0x04034b50, kLocalSize = 30;
inline constexpr uint32_t kCentralSignature = 0x02014b50, kCentralSize = 46;
inline constexpr uint32_t kEndSignature = 0x06054b50, kEndSize = 22;
inline constexpr uint32_t kEnd64Signature = 0x06064b50, kEnd64Size = 56;
inline constexpr uint32_t kLocator64Signature = 0x07064b50, kLocator64Size = 20;

/// The extra field that holds sizes and offsets of 64 bits.
inline constexpr uint16_t kExtra64 = 1;

/// What short fields hold when the true value is in a 64-bit field.
inline constexpr uint32_t kIn64 = 0xffffffff;
inline constexpr uint16_t kCountIn64 = 0xffff;

inline constexpr uint16_t kStored = 0, kDeflated = 8;
inline constexpr uint16_t kEncryptedFlag = 1, kUtf8Flag = 0x800;

/// Appends the lowest `size` bytes of `value`, lowest first.
inline void put(std::string &bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i)
    bytes += static_cast<char>(value >> (8 * i));
}

/// Reads `size` bytes, lowest first.
inline uint64_t get(const char *bytes, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

} // namespace pdg::zip

// SPDX-License-Identifier: BSD-3-Clause
// Unaligned loads and stores of integers, free of aliasing and alignment traps.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace scute::core::codec {

template <class T>
[[nodiscard]] inline T load(const unsigned char* p) noexcept {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
inline void store(unsigned char* p, T v) noexcept {
  std::memcpy(p, &v, sizeof v);
}

// The byte at the lowest address ends up in the lowest bits on every machine.
[[nodiscard]] inline uint64_t load_little(const unsigned char* p) noexcept {
  const auto v = load<uint64_t>(p);
  if constexpr (std::endian::native == std::endian::big) {
    return __builtin_bswap64(v);
  } else {
    return v;
  }
}

// `n` < 8 bytes in memory order, the rest zero, without touching a byte beyond them: the bytes next
// to an object belong to other threads or to an unmapped page.
[[nodiscard]] inline uint64_t load_partial(const unsigned char* p, size_t n) noexcept {
  uint64_t v = 0;
  std::memcpy(&v, p, n);
  return v;
}

}  // namespace scute::core::codec

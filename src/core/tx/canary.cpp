// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/canary.hpp"

#include <sys/random.h>

#include <algorithm>

namespace scute::core::tx {

canary_pattern::canary_pattern() noexcept {
  // Random, so that no data that a program is likely to write looks like it.
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    for (size_t i = 0; i < sizeof bytes; ++i)
      bytes[i] = static_cast<std::byte>(0xa5 ^ (i * 0x9d) ^ reinterpret_cast<uintptr_t>(this));
}

void plant_long(std::byte* at, uint64_t n) noexcept {
  const canary_pattern& p = the_pattern();
  for (uint64_t i = 0; i < n; i += sizeof p.bytes)
    std::memcpy(at + i, p.bytes, std::min<uint64_t>(sizeof p.bytes, n - i));
}

bool long_intact(const std::byte* at, uint64_t n) noexcept {
  const canary_pattern& p = the_pattern();
  for (uint64_t i = 0; i < n; i += sizeof p.bytes)
    if (std::memcmp(at + i, p.bytes, std::min<uint64_t>(sizeof p.bytes, n - i)) != 0) return false;
  return true;
}

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
#include "tx/canary.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define SCUTE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCUTE_ASAN 1
#endif
#endif
#ifdef SCUTE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace scute::tx {
namespace {

struct pattern {
  std::byte bytes[256];
  pattern() noexcept {
    // Random, so that no data that a program is likely to write passes for it.
    if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
      for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = static_cast<std::byte>(0xa5 ^ (i * 0x9d) ^ reinterpret_cast<uintptr_t>(this));
  }
};

const pattern& the_pattern() noexcept {
  static const pattern p;
  return p;
}

}  // namespace

void plant_canary(std::byte* at, uint64_t n) noexcept {
  const pattern& p = the_pattern();
  unpoison(at, n);
  for (uint64_t i = 0; i < n; i += sizeof p.bytes)
    std::memcpy(at + i, p.bytes, std::min<uint64_t>(sizeof p.bytes, n - i));
#ifdef SCUTE_ASAN
  ASAN_POISON_MEMORY_REGION(at, n);
#endif
}

bool canary_intact(const std::byte* at, uint64_t n) noexcept {
  const pattern& p = the_pattern();
  unpoison(at, n);
  bool same = true;
  for (uint64_t i = 0; i < n; i += sizeof p.bytes)
    same = same && std::memcmp(at + i, p.bytes, std::min<uint64_t>(sizeof p.bytes, n - i)) == 0;
#ifdef SCUTE_ASAN
  ASAN_POISON_MEMORY_REGION(at, n);
#endif
  return same;
}

void unpoison([[maybe_unused]] const std::byte* at, [[maybe_unused]] uint64_t n) noexcept {
#ifdef SCUTE_ASAN
  ASAN_UNPOISON_MEMORY_REGION(at, n);
#endif
}

}  // namespace scute::tx

// SPDX-License-Identifier: BSD-3-Clause
// Guard bytes before and after a micro-buffer (Pangolin 3.2). A write after its end, or before its
// start, is found at commit, and nothing of the transaction reaches the medium.
#pragma once

#include <cstddef>
#include <cstdint>
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

namespace scute::core::tx {

inline constexpr uint64_t canary_size = 32;
// At most so many bytes of the room before a buffer, those next to it, serve as canary: the room of
// an object of 128 MiB is 1 MiB, and an edit of a few bytes must not cost that.
inline constexpr uint64_t front_canary_max = 256;

// The repeated content of canaries: random, one for the process.
struct canary_pattern {
  alignas(canary_size) std::byte bytes[256];
  canary_pattern() noexcept;
};
inline const canary_pattern& the_pattern() noexcept {
  static const canary_pattern p;
  return p;
}

// Under AddressSanitizer canaries are poisoned: writes there are reported at once.
inline void poison([[maybe_unused]] const std::byte* at, [[maybe_unused]] uint64_t n) noexcept {
#ifdef SCUTE_ASAN
  ASAN_POISON_MEMORY_REGION(at, n);
#endif
}
inline void unpoison([[maybe_unused]] const std::byte* at, [[maybe_unused]] uint64_t n) noexcept {
#ifdef SCUTE_ASAN
  ASAN_UNPOISON_MEMORY_REGION(at, n);
#endif
}

// For canaries of other sizes than the usual one, without the poison.
void plant_long(std::byte* at, uint64_t n) noexcept;
bool long_intact(const std::byte* at, uint64_t n) noexcept;

// Fills n bytes with the process's canary pattern; poisons them under AddressSanitizer.
inline void plant_canary(std::byte* at, uint64_t n) noexcept {
  unpoison(at, n);
  if (n == canary_size)
    std::memcpy(at, the_pattern().bytes, canary_size);
  else
    plant_long(at, n);
  poison(at, n);
}

// The bits in which a canary of the usual size differs from the pattern, ORed together. Works on
// poisoned bytes.
inline uint64_t canary_difference(const canary_pattern& should, const std::byte* at) noexcept {
  using half = uint64_t __attribute__((vector_size(16)));
  static_assert(2 * sizeof(half) == canary_size);
  half is[2], was[2];
  unpoison(at, canary_size);
  std::memcpy(is, at, sizeof is);
  poison(at, canary_size);
  std::memcpy(was, should.bytes, sizeof was);
  const half all = (is[0] ^ was[0]) | (is[1] ^ was[1]);
  return all[0] | all[1];
}

// True if the n bytes still are the pattern. Works on poisoned bytes.
inline bool canary_intact(const std::byte* at, uint64_t n) noexcept {
  if (n == canary_size) return canary_difference(the_pattern(), at) == 0;
  unpoison(at, n);
  const bool same = long_intact(at, n);
  poison(at, n);
  return same;
}

}  // namespace scute::core::tx

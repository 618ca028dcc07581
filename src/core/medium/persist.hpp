// SPDX-License-Identifier: BSD-3-Clause
// CPU instructions that move bytes towards the persistence
// domain, chosen once per process for the present machine. Intel SDM vol. 1, 11.4.6 (cacheability
// control) and vol. 2 (CLWB, CLFLUSHOPT, CLFLUSH, SFENCE, MOVNT*): CLWB and CLFLUSHOPT are ordered
// by SFENCE and by LOCK-prefixed instructions; CLFLUSH is ordered with respect to stores by itself.
#pragma once

#include <cstddef>

namespace scute::core::medium {

struct persist_ops {
  const char* flush_name;                           // "clwb", "clflushopt", "clflush"
  void (*flush)(const void* p, size_t n) noexcept;  // write back every line of [p, p+n)
  void (*copy_nt)(void* dst, const void* src, size_t n) noexcept;  // n, dst: multiples of 64
  void (*fence)() noexcept;
};

// The best instructions that may be used (codec/cpu.hpp). SCUTE_FLUSH=clwb|clflushopt|clflush|none
// overrides it (none: for measurements only; nothing is then durable across power loss).
const persist_ops& persist() noexcept;

// From this many bytes on a non-temporal copy is faster than cached stores plus write-back.
// Measured: 16 lines of CLWB cost as much as 64 lines of MOVNT, but below four lines MOVNT makes
// the following SFENCE more expensive than CLWB does. tests/medium and `scute-bench medium` check
// that this is still so.
inline constexpr size_t nt_threshold = 512;

// Copies n bytes and starts their write-back by the cheaper of the two ways.
void copy_persist(const persist_ops& ops, bool eadr, void* dst, const void* src, size_t n) noexcept;

}  // namespace scute::core::medium

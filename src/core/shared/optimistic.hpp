// SPDX-License-Identifier: BSD-3-Clause
// Marks for ThreadSanitizer. A verifying read takes no lock: if another thread repairs the same
// bytes, the read fails its checksum and is repeated under the repairer's lock. Both sides of that
// race are marked; the sanitizer checks everything else.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace scute::core::pool {

#if defined(__SANITIZE_THREAD__)
struct optimistic_reads {
  optimistic_reads() noexcept { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~optimistic_reads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  optimistic_reads(const optimistic_reads&) = delete;
  optimistic_reads& operator=(const optimistic_reads&) = delete;
};
struct writes_under_optimistic_reads {
  writes_under_optimistic_reads() noexcept { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
  ~writes_under_optimistic_reads() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
  writes_under_optimistic_reads(const writes_under_optimistic_reads&) = delete;
  writes_under_optimistic_reads& operator=(const writes_under_optimistic_reads&) = delete;
};
#else
struct optimistic_reads {
  optimistic_reads() noexcept {}  // NOLINT(modernize-use-equals-default): else it counts as unused
};
struct writes_under_optimistic_reads {
  writes_under_optimistic_reads() noexcept {}  // NOLINT(modernize-use-equals-default)
};
#endif

// A copy of bytes that other threads may store to meanwhile; the caller replaces the stored-to
// part. For places that a jump may leave, where no mark can stand.
#if defined(__SANITIZE_THREAD__)
[[gnu::no_sanitize("thread")]] inline void copy_to_replace(std::byte* to, const std::byte* from,
                                                           size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<const volatile std::byte*>(from)[i];
}
#else
inline void copy_to_replace(std::byte* to, const std::byte* from, size_t n) noexcept {
  std::memcpy(to, from, n);
}
#endif

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/persist.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/rounding.hpp"
#include "codec/cpu.hpp"

namespace scute::core::medium {
namespace {

[[maybe_unused]] constexpr size_t line = 64;

void flush_none(const void*, size_t) noexcept {}

#if defined(__x86_64__)

void fence_sfence() noexcept {
  _mm_sfence();
}

__attribute__((target("clwb"))) void flush_clwb(const void* p, size_t n) noexcept {
  const auto end = reinterpret_cast<uintptr_t>(p) + n;
  for (auto a = round_down(reinterpret_cast<uintptr_t>(p), line); a < end; a += line)
    _mm_clwb(reinterpret_cast<void*>(a));
}

__attribute__((target("clflushopt"))) void flush_clflushopt(const void* p, size_t n) noexcept {
  const auto end = reinterpret_cast<uintptr_t>(p) + n;
  for (auto a = round_down(reinterpret_cast<uintptr_t>(p), line); a < end; a += line)
    _mm_clflushopt(reinterpret_cast<void*>(a));
}

void flush_clflush(const void* p, size_t n) noexcept {
  const auto end = reinterpret_cast<uintptr_t>(p) + n;
  for (auto a = round_down(reinterpret_cast<uintptr_t>(p), line); a < end; a += line)
    _mm_clflush(reinterpret_cast<void*>(a));
}

void copy_nt_sse2(void* dst, const void* src, size_t n) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  for (size_t i = 0; i < n; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(d + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + i)));
}

__attribute__((target("avx2"))) void copy_nt_avx2(void* dst, const void* src, size_t n) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  for (size_t i = 0; i < n; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(d + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + i)));
}

__attribute__((target("avx512f"))) void copy_nt_avx512(void* dst, const void* src,
                                                       size_t n) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  for (size_t i = 0; i < n; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(d + i), _mm512_loadu_si512(s + i));
}

persist_ops detect() noexcept {
  persist_ops ops{"clflush", flush_clflush, copy_nt_sse2, fence_sfence};
  const codec::cpu_features& cpu = codec::cpu();
  const char* setting = std::getenv("SCUTE_FLUSH");
  const std::string_view want = setting != nullptr ? setting : "";
  if (want == "none") {
    ops.flush_name = "none";
    ops.flush = flush_none;
  } else if (cpu.clwb && (want.empty() || want == "clwb")) {
    ops.flush_name = "clwb";
    ops.flush = flush_clwb;
  } else if (cpu.clflushopt && want != "clflush") {
    ops.flush_name = "clflushopt";
    ops.flush = flush_clflushopt;
  }
  if (cpu.avx512)
    ops.copy_nt = copy_nt_avx512;
  else if (cpu.avx2)
    ops.copy_nt = copy_nt_avx2;
  return ops;
}

#else

// No cache control from user space that this file knows of: the file and ram media still work,
// and a second architecture is a second block here.
void fence_generic() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void copy_generic(void* dst, const void* src, size_t n) noexcept {
  std::memcpy(dst, src, n);
}

persist_ops detect() noexcept {
  return {"none", flush_none, copy_generic, fence_generic};
}

#endif

}  // namespace

const persist_ops& persist() noexcept {
  static const persist_ops ops = detect();
  return ops;
}

void copy_persist(const persist_ops& ops, bool eadr, void* dst, const void* src,
                  size_t n) noexcept {
  if (eadr) {
    // Caches persist: a cached store is durable once it is globally visible, which the fence
    // ensures.
    std::memcpy(dst, src, n);
    return;
  }
  if (n < nt_threshold) {
    std::memcpy(dst, src, n);
    ops.flush(dst, n);
    return;
  }
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  // Partial lines at the ends go through the cache: a partly filled write-combining buffer costs
  // a read of the line anyway.
  const size_t head = (64 - (reinterpret_cast<uintptr_t>(d) & 63)) & 63;
  if (head != 0) {
    std::memcpy(d, s, head);
    ops.flush(d, head);
  }
  const size_t body = round_down(n - head, line);
  ops.copy_nt(d + head, s + head, body);
  const size_t tail = n - head - body;
  if (tail != 0) {
    std::memcpy(d + head + body, s + head + body, tail);
    ops.flush(d + head + body, tail);
  }
}

}  // namespace scute::core::medium

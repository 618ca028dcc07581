// SPDX-License-Identifier: BSD-3-Clause
#include "medium/fused.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)  // GCC bug 105593, as in codec/intrinsics.hpp
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

namespace scute::medium {
namespace {

constexpr size_t line = 64;

// Bytes from p to the end of its line, at most n.
size_t to_line_end(const void* p, size_t n) noexcept {
  return std::min(n, line - (reinterpret_cast<uintptr_t>(p) & (line - 1)));
}

// Between reading a line and writing it; the compiler keeps both on their sides.
void tell(volatile uint32_t* done, size_t n) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *done = static_cast<uint32_t>(n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// ---- words ------------------------------------------------------------------------------------------

// out = a ^ b
void xor_bytes(std::byte* out, const std::byte* a, const std::byte* b, size_t n) noexcept {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    x ^= y;
    std::memcpy(out + i, &x, 8);
  }
  for (; i < n; ++i) out[i] = a[i] ^ b[i];
}

template <bool Flush>
void encode_portable(void* dst, const void* src, void* delta, size_t n,
                     volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  auto* x = static_cast<std::byte*>(delta);
  const persist_ops& ops = persist();
  const bool past_cache = Flush && n >= nt_threshold;
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    xor_bytes(x + i, d + i, s + i, k);
    tell(done, i + k);
    if (past_cache && k == line) {
      ops.copy_nt(d + i, s + i, line);
    } else {
      std::memcpy(d + i, s + i, k);
      if (Flush) ops.flush(d + i, k);
    }
    i += k;
  }
}

template <bool Flush>
void fold_portable(void* dst, const void* delta, size_t n, volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* x = static_cast<const std::byte*>(delta);
  const persist_ops& ops = persist();
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    std::byte fresh[line];
    xor_bytes(fresh, d + i, x + i, k);
    tell(done, i + k);
    std::memcpy(d + i, fresh, k);
    if (Flush) ops.flush(d + i, k);
    i += k;
  }
}

constexpr fused_ops portable[2] = {
    {"portable", encode_portable<false>, fold_portable<false>},
    {"portable", encode_portable<true>, fold_portable<true>},
};

#if defined(__x86_64__)

enum class way : uint8_t { none, clflush, clflushopt, clwb };

#define SCUTE_FUSED_WIDE "avx512f,avx512bw,avx512vl,clwb,clflushopt"
#define SCUTE_FUSED_AVX2 "avx2,clwb,clflushopt"
#define SCUTE_FUSED_PIECE(isa) __attribute__((target(isa), always_inline)) inline

// What write-back a template is for is known when it is compiled, and what is not for this CPU is not
// in it.
template <way W>
SCUTE_FUSED_PIECE(SCUTE_FUSED_WIDE)
void push_wide(void* p) noexcept {
  if constexpr (W == way::clwb) _mm_clwb(p);
  if constexpr (W == way::clflushopt) _mm_clflushopt(p);
  if constexpr (W == way::clflush) _mm_clflush(p);
}
template <way W>
SCUTE_FUSED_PIECE(SCUTE_FUSED_AVX2)
void push_avx2(void* p) noexcept {
  if constexpr (W == way::clwb) _mm_clwb(p);
  if constexpr (W == way::clflushopt) _mm_clflushopt(p);
  if constexpr (W == way::clflush) _mm_clflush(p);
}

// ---- 512 bits: a line is a register -------------------------------------------------------------------

SCUTE_FUSED_PIECE(SCUTE_FUSED_WIDE) __mmask64 first_bytes(size_t n) noexcept {
  return n >= 64 ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
}

template <way W>
__attribute__((target(SCUTE_FUSED_WIDE))) void encode_wide(void* dst, const void* src, void* delta,
                                                           size_t n,
                                                           volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  auto* x = static_cast<std::byte*>(delta);
  const bool past_cache = W != way::none && n >= nt_threshold;
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    if (k == line) {
      const __m512i fresh = _mm512_loadu_si512(s + i);
      _mm512_storeu_si512(x + i, _mm512_xor_si512(fresh, _mm512_load_si512(d + i)));
      tell(done, i + k);
      if (past_cache) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(d + i), fresh);
      } else {
        _mm512_store_si512(d + i, fresh);
        push_wide<W>(d + i);
      }
    } else {
      const __mmask64 m = first_bytes(k);
      const __m512i fresh = _mm512_maskz_loadu_epi8(m, s + i);
      _mm512_mask_storeu_epi8(x + i, m,
                              _mm512_xor_si512(fresh, _mm512_maskz_loadu_epi8(m, d + i)));
      tell(done, i + k);
      _mm512_mask_storeu_epi8(d + i, m, fresh);
      push_wide<W>(d + i);
    }
    i += k;
  }
}

template <way W>
__attribute__((target(SCUTE_FUSED_WIDE))) void fold_wide(void* dst, const void* delta, size_t n,
                                                         volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* x = static_cast<const std::byte*>(delta);
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    if (k == line) {
      const __m512i fresh =
          _mm512_xor_si512(_mm512_load_si512(d + i), _mm512_loadu_si512(x + i));
      tell(done, i + k);
      _mm512_store_si512(d + i, fresh);
    } else {
      const __mmask64 m = first_bytes(k);
      const __m512i fresh = _mm512_xor_si512(_mm512_maskz_loadu_epi8(m, d + i),
                                             _mm512_maskz_loadu_epi8(m, x + i));
      tell(done, i + k);
      _mm512_mask_storeu_epi8(d + i, m, fresh);
    }
    push_wide<W>(d + i);
    i += k;
  }
}

// ---- 256 bits -------------------------------------------------------------------------------------------

template <way W>
__attribute__((target(SCUTE_FUSED_AVX2))) void encode_avx2(void* dst, const void* src, void* delta,
                                                           size_t n,
                                                           volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  auto* x = static_cast<std::byte*>(delta);
  const bool past_cache = W != way::none && n >= nt_threshold;
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    if (k == line) {
      const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + i));
      const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + i + 32));
      auto* to = reinterpret_cast<__m256i*>(d + i);
      auto* out = reinterpret_cast<__m256i*>(x + i);
      _mm256_storeu_si256(out, _mm256_xor_si256(a, _mm256_load_si256(to)));
      _mm256_storeu_si256(out + 1, _mm256_xor_si256(b, _mm256_load_si256(to + 1)));
      tell(done, i + k);
      if (past_cache) {
        _mm256_stream_si256(to, a);
        _mm256_stream_si256(to + 1, b);
      } else {
        _mm256_store_si256(to, a);
        _mm256_store_si256(to + 1, b);
        push_avx2<W>(d + i);
      }
    } else {
      xor_bytes(x + i, d + i, s + i, k);
      tell(done, i + k);
      std::memcpy(d + i, s + i, k);
      push_avx2<W>(d + i);
    }
    i += k;
  }
}

template <way W>
__attribute__((target(SCUTE_FUSED_AVX2))) void fold_avx2(void* dst, const void* delta, size_t n,
                                                         volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* x = static_cast<const std::byte*>(delta);
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    if (k == line) {
      auto* to = reinterpret_cast<__m256i*>(d + i);
      const auto* with = reinterpret_cast<const __m256i*>(x + i);
      const __m256i a = _mm256_xor_si256(_mm256_load_si256(to), _mm256_loadu_si256(with));
      const __m256i b = _mm256_xor_si256(_mm256_load_si256(to + 1), _mm256_loadu_si256(with + 1));
      tell(done, i + k);
      _mm256_store_si256(to, a);
      _mm256_store_si256(to + 1, b);
    } else {
      std::byte fresh[line];
      xor_bytes(fresh, d + i, x + i, k);
      tell(done, i + k);
      std::memcpy(d + i, fresh, k);
    }
    push_avx2<W>(d + i);
    i += k;
  }
}

// By way.
constexpr fused_ops avx2[4] = {
    {"avx2", encode_avx2<way::none>, fold_avx2<way::none>},
    {"avx2", encode_avx2<way::clflush>, fold_avx2<way::clflush>},
    {"avx2", encode_avx2<way::clflushopt>, fold_avx2<way::clflushopt>},
    {"avx2", encode_avx2<way::clwb>, fold_avx2<way::clwb>},
};
constexpr fused_ops wide[4] = {
    {"avx512", encode_wide<way::none>, fold_wide<way::none>},
    {"avx512", encode_wide<way::clflush>, fold_wide<way::clflush>},
    {"avx512", encode_wide<way::clflushopt>, fold_wide<way::clflushopt>},
    {"avx512", encode_wide<way::clwb>, fold_wide<way::clwb>},
};

way present_way() noexcept {
  const std::string_view name = persist().flush_name;
  return name == "clwb"         ? way::clwb
         : name == "clflushopt" ? way::clflushopt
         : name == "clflush"    ? way::clflush
                                : way::none;
}

#endif

}  // namespace

const fused_ops* fused_variant(size_t i) noexcept {
  if (i == 0) return &portable[1];
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto w = static_cast<size_t>(present_way());
  if (i == 1 && __builtin_cpu_supports("avx2")) return &avx2[w];
  if (i == 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return &wide[w];
#endif
  return nullptr;
}

const fused_ops& fused(bool eadr) noexcept {
  static const fused_ops& best = []() -> const fused_ops& {
    const fused_ops* found = nullptr;
    for (size_t i = 0; i < fused_variants; ++i)
      if (const fused_ops* ops = fused_variant(i)) found = ops;
    return *found;
  }();
  if (!eadr) return best;
#if defined(__x86_64__)
  if (&best >= wide && &best < wide + 4) return wide[0];
  if (&best >= avx2 && &best < avx2 + 4) return avx2[0];
#endif
  return portable[0];
}

}  // namespace scute::medium

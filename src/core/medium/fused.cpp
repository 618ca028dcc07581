// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/fused.hpp"

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

#include "codec/cpu.hpp"

namespace scute::core::medium {
namespace {

constexpr size_t line = 64;

// Bytes from p to the end of its line, at most n.
size_t to_line_end(const void* p, size_t n) noexcept {
  return std::min(n, line - (reinterpret_cast<uintptr_t>(p) & (line - 1)));
}

// Bytes before the first whole line: none if p is the begin of one.
size_t head(const void* p, size_t n) noexcept {
  return std::min(n, -reinterpret_cast<uintptr_t>(p) & (line - 1));
}

// Reports progress between the read and the write of a line; the compiler moves neither across.
void publish(volatile uint32_t* done, size_t n) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *done = static_cast<uint32_t>(n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// ---- words --------------------------------------------------------------------------------------

// delta = old ^ fresh, next = parity ^ delta
void encode_bytes(std::byte* delta, std::byte* next, const std::byte* old, const std::byte* fresh,
                  const std::byte* parity, size_t n) noexcept {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x = 0, y = 0, z = 0;
    std::memcpy(&x, old + i, 8);
    std::memcpy(&y, fresh + i, 8);
    std::memcpy(&z, parity + i, 8);
    x ^= y;
    z ^= x;
    std::memcpy(delta + i, &x, 8);
    std::memcpy(next + i, &z, 8);
  }
  for (; i < n; ++i) {
    delta[i] = old[i] ^ fresh[i];
    next[i] = parity[i] ^ delta[i];
  }
}

template <bool Flush>
void encode_portable(const fused_piece& p, volatile uint32_t* done) noexcept {
  const persist_ops& ops = persist();
  const bool past_cache = Flush && p.n >= nt_threshold;
  for (size_t i = 0; i < p.n;) {
    const size_t k = to_line_end(p.dst + i, p.n - i);
    encode_bytes(p.delta + i, p.next + i, p.old + i, p.src + i, p.parity + i, k);
    publish(done, i + k);
    if (past_cache && k == line) {
      ops.copy_nt(p.dst + i, p.src + i, line);
    } else {
      std::memcpy(p.dst + i, p.src + i, k);
      if (Flush) ops.flush(p.dst + i, k);
    }
    i += k;
  }
}

template <bool Flush>
void push_portable(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  const persist_ops& ops = persist();
  for (size_t i = 0; i < n;) {
    const size_t k = to_line_end(d + i, n - i);
    publish(done, i + k);
    std::memcpy(d + i, s + i, k);
    if (Flush) ops.flush(d + i, k);
    i += k;
  }
}

constexpr fused_ops portable[2] = {
    {"portable", encode_portable<false>, push_portable<false>},
    {"portable", encode_portable<true>, push_portable<true>},
};

#if defined(__x86_64__)

enum class way : uint8_t { none, clflush, clflushopt, clwb };

#define SCUTE_FUSED_WIDE "avx512f,avx512bw,avx512vl,clwb,clflushopt"
#define SCUTE_FUSED_AVX2 "avx2,clwb,clflushopt"
#define SCUTE_FUSED_PIECE(isa) __attribute__((target(isa), always_inline)) inline

// A template's way of write-back is a constant, so code for other ways is not compiled into it.
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

// ---- 512 bits: a line is a register -------------------------------------------------------------

SCUTE_FUSED_PIECE(SCUTE_FUSED_WIDE) __mmask64 first_bytes(size_t n) noexcept {
  return n >= 64 ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
}

template <way W, bool PastCache>
SCUTE_FUSED_PIECE(SCUTE_FUSED_WIDE)
void encode_line_wide(const fused_piece& p, size_t i, volatile uint32_t* done) noexcept {
  const __m512i fresh = _mm512_loadu_si512(p.src + i);
  const __m512i delta = _mm512_xor_si512(fresh, _mm512_loadu_si512(p.old + i));
  _mm512_storeu_si512(p.delta + i, delta);
  _mm512_storeu_si512(p.next + i, _mm512_xor_si512(delta, _mm512_load_si512(p.parity + i)));
  publish(done, i + line);
  if constexpr (PastCache) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p.dst + i), fresh);
  } else {
    _mm512_store_si512(p.dst + i, fresh);
    push_wide<W>(p.dst + i);
  }
}

template <way W>
SCUTE_FUSED_PIECE(SCUTE_FUSED_WIDE)
void encode_part_wide(const fused_piece& p, size_t i, size_t k, volatile uint32_t* done) noexcept {
  const __mmask64 m = first_bytes(k);
  const __m512i fresh = _mm512_maskz_loadu_epi8(m, p.src + i);
  const __m512i delta = _mm512_xor_si512(fresh, _mm512_maskz_loadu_epi8(m, p.old + i));
  _mm512_mask_storeu_epi8(p.delta + i, m, delta);
  _mm512_mask_storeu_epi8(p.next + i, m,
                          _mm512_xor_si512(delta, _mm512_maskz_loadu_epi8(m, p.parity + i)));
  publish(done, i + k);
  _mm512_mask_storeu_epi8(p.dst + i, m, fresh);
  push_wide<W>(p.dst + i);
}

template <way W>
__attribute__((target(SCUTE_FUSED_WIDE))) void encode_wide(const fused_piece& piece,
                                                           volatile uint32_t* done) noexcept {
  const fused_piece p = piece;  // a copy: for the compiler, the stores could change the fields
  size_t i = head(p.dst, p.n);
  if (i != 0) encode_part_wide<W>(p, 0, i, done);
  if (W != way::none && p.n >= nt_threshold)
    for (; p.n - i >= line; i += line) encode_line_wide<W, true>(p, i, done);
  else
    for (; p.n - i >= line; i += line) encode_line_wide<W, false>(p, i, done);
  if (i != p.n) encode_part_wide<W>(p, i, p.n - i, done);
}

template <way W>
SCUTE_FUSED_PIECE(SCUTE_FUSED_WIDE)
void store_part_wide(std::byte* d, const std::byte* s, size_t k) noexcept {
  const __mmask64 m = first_bytes(k);
  _mm512_mask_storeu_epi8(d, m, _mm512_maskz_loadu_epi8(m, s));
  push_wide<W>(d);
}

template <way W>
__attribute__((target(SCUTE_FUSED_WIDE))) void store_wide(void* dst, const void* src, size_t n,
                                                          volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  size_t i = head(d, n);
  if (i != 0) {
    publish(done, i);
    store_part_wide<W>(d, s, i);
  }
  for (; n - i >= line; i += line) {
    publish(done, i + line);
    _mm512_store_si512(d + i, _mm512_loadu_si512(s + i));
    push_wide<W>(d + i);
  }
  if (i != n) {
    publish(done, n);
    store_part_wide<W>(d + i, s + i, n - i);
  }
}

// ---- 256 bits -----------------------------------------------------------------------------------

SCUTE_FUSED_PIECE(SCUTE_FUSED_AVX2) __m256i half(const std::byte* p) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
SCUTE_FUSED_PIECE(SCUTE_FUSED_AVX2) void put_half(std::byte* p, __m256i v) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

template <way W, bool PastCache>
SCUTE_FUSED_PIECE(SCUTE_FUSED_AVX2)
void encode_line_avx2(const fused_piece& p, size_t i, volatile uint32_t* done) noexcept {
  std::byte* d = p.dst + i;
  const __m256i a = half(p.src + i), b = half(p.src + i + 32);
  const __m256i x = _mm256_xor_si256(a, half(p.old + i)),
                y = _mm256_xor_si256(b, half(p.old + i + 32));
  put_half(p.delta + i, x);
  put_half(p.delta + i + 32, y);
  put_half(p.next + i, _mm256_xor_si256(x, half(p.parity + i)));
  put_half(p.next + i + 32, _mm256_xor_si256(y, half(p.parity + i + 32)));
  publish(done, i + line);
  if constexpr (PastCache) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(d), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(d + 32), b);
  } else {
    put_half(d, a);
    put_half(d + 32, b);
    push_avx2<W>(d);
  }
}

// Encodes less than a line. Half a line, which is where most fragments begin and end, takes one
// step.
template <way W>
SCUTE_FUSED_PIECE(SCUTE_FUSED_AVX2)
void encode_part_avx2(const fused_piece& p, size_t i, size_t k, volatile uint32_t* done) noexcept {
  std::byte* d = p.dst + i;
  if (k == line / 2) {
    const __m256i a = half(p.src + i), x = _mm256_xor_si256(a, half(p.old + i));
    put_half(p.delta + i, x);
    put_half(p.next + i, _mm256_xor_si256(x, half(p.parity + i)));
    publish(done, i + k);
    put_half(d, a);
  } else {
    encode_bytes(p.delta + i, p.next + i, p.old + i, p.src + i, p.parity + i, k);
    publish(done, i + k);
    std::memcpy(d, p.src + i, k);
  }
  push_avx2<W>(d);
}

template <way W>
__attribute__((target(SCUTE_FUSED_AVX2))) void encode_avx2(const fused_piece& piece,
                                                           volatile uint32_t* done) noexcept {
  const fused_piece p = piece;  // as above
  size_t i = head(p.dst, p.n);
  if (i != 0) encode_part_avx2<W>(p, 0, i, done);
  if (W != way::none && p.n >= nt_threshold)
    for (; p.n - i >= line; i += line) encode_line_avx2<W, true>(p, i, done);
  else
    for (; p.n - i >= line; i += line) encode_line_avx2<W, false>(p, i, done);
  if (i != p.n) encode_part_avx2<W>(p, i, p.n - i, done);
}

template <way W>
SCUTE_FUSED_PIECE(SCUTE_FUSED_AVX2)
void store_part_avx2(std::byte* d, const std::byte* s, size_t k) noexcept {
  if (k == line / 2)
    put_half(d, half(s));
  else
    std::memcpy(d, s, k);
  push_avx2<W>(d);
}

template <way W>
__attribute__((target(SCUTE_FUSED_AVX2))) void store_avx2(void* dst, const void* src, size_t n,
                                                          volatile uint32_t* done) noexcept {
  auto* d = static_cast<std::byte*>(dst);
  const auto* s = static_cast<const std::byte*>(src);
  size_t i = head(d, n);
  if (i != 0) {
    publish(done, i);
    store_part_avx2<W>(d, s, i);
  }
  for (; n - i >= line; i += line) {
    publish(done, i + line);
    put_half(d + i, half(s + i));
    put_half(d + i + 32, half(s + i + 32));
    push_avx2<W>(d + i);
  }
  if (i != n) {
    publish(done, n);
    store_part_avx2<W>(d + i, s + i, n - i);
  }
}

// By way.
constexpr fused_ops avx2[4] = {
    {"avx2", encode_avx2<way::none>, store_avx2<way::none>},
    {"avx2", encode_avx2<way::clflush>, store_avx2<way::clflush>},
    {"avx2", encode_avx2<way::clflushopt>, store_avx2<way::clflushopt>},
    {"avx2", encode_avx2<way::clwb>, store_avx2<way::clwb>},
};
constexpr fused_ops wide[4] = {
    {"avx512", encode_wide<way::none>, store_wide<way::none>},
    {"avx512", encode_wide<way::clflush>, store_wide<way::clflush>},
    {"avx512", encode_wide<way::clflushopt>, store_wide<way::clflushopt>},
    {"avx512", encode_wide<way::clwb>, store_wide<way::clwb>},
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

namespace {

// The i-th variant that `cpu` can run; the portable one is number 0.
const fused_ops* variant(size_t i, [[maybe_unused]] const codec::cpu_features& cpu) noexcept {
  if (i == 0) return &portable[1];
#if defined(__x86_64__)
  const auto w = static_cast<size_t>(present_way());
  if (i == 1 && cpu.avx2) return &avx2[w];
  if (i == 2 && cpu.avx512) return &wide[w];
#endif
  return nullptr;
}

}  // namespace

const fused_ops* fused_variant(size_t i) noexcept {
  return variant(i, codec::cpu_detect());
}

const fused_ops& fused(bool eadr) noexcept {
  static const fused_ops& best = []() -> const fused_ops& {
    const fused_ops* found = nullptr;
    for (size_t i = 0; i < fused_variants; ++i)
      if (const fused_ops* ops = variant(i, codec::cpu())) found = ops;
    return *found;
  }();
  if (!eadr) return best;
#if defined(__x86_64__)
  if (&best >= wide && &best < wide + 4) return wide[0];
  if (&best >= avx2 && &best < avx2 + 4) return avx2[0];
#endif
  return portable[0];
}

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
#include "codec/parity/parity.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "codec/bytes.hpp"
#include "codec/dispatch.hpp"
#include "codec/parity/parity_table.hpp"
#include "codec/target.hpp"

namespace scute::core::codec {

namespace {

constexpr const parity_table* tables[] = {
    &parity_portable,
#if SCUTE_CODEC_X86
    &parity_sse2,
    &parity_avx2,
    &parity_avx512,
#endif
};

constinit dispatch<parity_table> active{&parity_portable};
[[maybe_unused]] const bool selected = active.select(tables);

unsigned char* bytes(void* p) {
  return static_cast<unsigned char*>(p);
}
const unsigned char* bytes(const void* p) {
  return static_cast<const unsigned char*>(p);
}

// The destination is raw mapped memory that the rest of the program sees as other types.
// std::atomic_ref would promise the compiler that it holds integers; this type makes no such
// promise.
using word_alias __attribute__((may_alias)) = uint64_t;

void xor_word(unsigned char* aligned, uint64_t delta) {
  if (delta != 0) {
    __atomic_fetch_xor(reinterpret_cast<word_alias*>(aligned), delta, __ATOMIC_RELAXED);
  }
}

// The delta of a word of which only the `n` bytes at `offset` belong to the range.
uint64_t edge(const unsigned char* delta, size_t offset, size_t n) {
  unsigned char word[8] = {};
  std::memcpy(word + offset, delta, n);
  return load<uint64_t>(word);
}

}  // namespace

void xor_into(void* dst, const void* src, size_t n) noexcept {
  active->xor2(bytes(dst), bytes(dst), bytes(src), n);
}

void xor_delta(void* dst, const void* a, const void* b, size_t n) noexcept {
  active->xor2(bytes(dst), bytes(a), bytes(b), n);
}

void xor_encode(void* dst, const void* parity, const void* old_bytes, const void* new_bytes,
                size_t n) noexcept {
  active->xor3(bytes(dst), bytes(parity), bytes(old_bytes), bytes(new_bytes), n);
}

namespace {

// Calls on_block(bytes) after each word.
template <typename OnBlock>
void xor_words(void* dst, const void* delta, size_t n, OnBlock&& on_block) noexcept {
  unsigned char* to = bytes(dst);
  const unsigned char* from = bytes(delta);
  if (n == 0) {
    return;
  }
  if (const size_t offset = reinterpret_cast<uintptr_t>(to) % 8; offset != 0) {
    const size_t room = 8 - offset;
    const size_t head = n < room ? n : room;
    xor_word(to - offset, edge(from, offset, head));
    on_block(head);
    to += head;
    from += head;
    n -= head;
  }
  for (; n >= 8; to += 8, from += 8, n -= 8) {
    xor_word(to, load<uint64_t>(from));
    on_block(8);
  }
  if (n != 0) {
    xor_word(to, edge(from, 0, n));
    on_block(n);
  }
}

}  // namespace

void xor_into_atomic(void* dst, const void* delta, size_t n) noexcept {
  xor_words(dst, delta, n, [](size_t) {});
}

void xor_into_atomic(void* dst, const void* delta, size_t n, uint32_t& done) noexcept {
  xor_words(dst, delta, n, [&](size_t words) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    done += static_cast<uint32_t>(words);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  });
}

bool is_zero(const void* p, size_t n) noexcept {
  return active->is_zero(bytes(p), n);
}

void xor_gather(void* dst, const void* const* rows, size_t row_count, size_t n) noexcept {
  if (n == 0) {
    return;
  }
  if (row_count == 0) {
    std::memset(dst, 0, n);
    return;
  }
  active->gather(bytes(dst), rows, row_count, n);
}

std::vector<const parity_table*> parity_variants() {
  return runnable<parity_table>(tables);
}

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/medium.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/failure.hpp"
#include "base/read_memory.hpp"
#include "base/rounding.hpp"

namespace scute::core::medium {
namespace {

constexpr uint64_t words_of(uint64_t size) noexcept {
  return (size / medium::page + 64) / 64;
}

}  // namespace

const char* kind_name(kind k) noexcept {
  switch (k) {
    case kind::dax: return "dax";
    case kind::file: return "file";
    case kind::ram: return "ram";
    case kind::simulated: return "simulated";
  }
  return "unknown";
}

void medium::will_read(uint64_t, uint64_t) const noexcept {}
void medium::will_use(uint64_t, uint64_t) noexcept {}
int medium::reserve(uint64_t, uint64_t) noexcept {
  return 0;
}
int medium::fill_holes(uint64_t, uint64_t) noexcept {
  return 0;
}
void medium::cut(uint64_t) noexcept {}
void medium::join(const file_handle&, const segments&, uint64_t, sharing) {
  throw core::failure(SCUTE_E_UNSUPPORTED, "this medium is of one file");
}
void medium::extend_joined(uint64_t) {}
int medium::grow(uint64_t offset, uint64_t n) noexcept {
  return offset + n <= size_ ? 0 : EFBIG;
}

medium::~medium() {
  if (auto* bits = revoked_.load()) ::munmap(bits, words_of(size_) * 8);
}

// mmap allocates the bits, since a signal handler may call it; they are zero until touched.
void medium::note_revoked(uint64_t offset, bool revoked) noexcept {
  auto* bits = revoked_.load(std::memory_order_acquire);
  if (bits == nullptr) {
    void* fresh = ::mmap(nullptr, words_of(size_) * 8, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) return;
    auto* mine = static_cast<std::atomic<uint64_t>*>(fresh);
    if (revoked_.compare_exchange_strong(bits, mine, std::memory_order_acq_rel))
      bits = mine;
    else
      ::munmap(fresh, words_of(size_) * 8);
  }
  const uint64_t bit = uint64_t{1} << offset / page % 64;
  auto& word = bits[offset / page / 64];
  if (revoked) {
    if ((word.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0) any_revoked_.fetch_add(1);
  } else {
    if ((word.fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0) any_revoked_.fetch_sub(1);
  }
}

bool medium::revoked_bit(uint64_t offset) const noexcept {
  const auto* bits = revoked_.load(std::memory_order_acquire);
  return bits != nullptr &&
         (bits[offset / page / 64].load(std::memory_order_acquire) >> offset / page % 64 & 1) != 0;
}

std::vector<uint64_t> medium::revoked_pages() const {
  std::vector<uint64_t> pages;
  const auto* bits = revoked_.load(std::memory_order_acquire);
  if (bits == nullptr || any_revoked_.load(std::memory_order_acquire) == 0) return pages;
  for (uint64_t at = 0; at < size_; at += page)
    if (revoked_bit(at)) pages.push_back(at);
  return pages;
}

void medium::lose_page(uint64_t offset, const std::byte* noise) noexcept {
  std::memcpy(base_ + offset, noise, page);
  revoke_page(offset);
}

void medium::revoke_page(uint64_t offset) noexcept {
  note_revoked(offset, true);
  ::mprotect(base_ + offset, page, PROT_NONE);
}

bool medium::restore_page(writer& w, uint64_t offset, const std::byte* bytes) noexcept {
  if (::mprotect(base_ + offset, page, PROT_READ | PROT_WRITE) != 0) return false;
  note_revoked(offset, false);
  w.stream(base_ + offset, bytes, page, purpose::data);
  w.fence(fence_site::page_restored);
  return !failed();
}

bool medium::read(uint64_t offset, void* to, size_t n) const noexcept {
  if (is_revoked(round_down(offset, page))) return false;
  std::memcpy(to, base_ + offset, n);
  return true;
}

bool medium::read_unless_lost(uint64_t offset, void* to, size_t n) const noexcept {
  for (uint64_t at = round_down(offset, page); at < offset + n; at += page)
    if (is_revoked(at)) return false;
  return read_memory(to, base_ + offset, n);
}

void medium::do_encode(writer& w, const fused_piece& p, volatile uint32_t* done) noexcept {
  for (size_t i = 0; i < p.n; ++i) {
    p.delta[i] = p.old[i] ^ p.src[i];
    p.next[i] = p.parity[i] ^ p.delta[i];
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *done = static_cast<uint32_t>(p.n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  do_stream(w, p.dst, p.src, p.n);
}

void medium::do_push(writer& w, void* dst, const void* src, size_t n,
                     volatile uint32_t* done) noexcept {
  do_put(dst, src, n, done);
  do_flush(w, dst, n);
}

void medium::do_put(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *done = static_cast<uint32_t>(n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  do_store(dst, src, n);
}

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
#include "medium/medium.hpp"

#include <sys/mman.h>

#include <cstring>

namespace scute::medium {
namespace {

constexpr uint64_t words_of(uint64_t size) noexcept {
  return (size / medium::page + 64) / 64;
}

}  // namespace

medium::~medium() {
  if (auto* bits = revoked_.load()) ::munmap(bits, words_of(size_) * 8);
}

// The bits are made by mmap, which a signal handler may call, and zero until touched.
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
  w.fence();
  return !failed();
}

bool medium::read(uint64_t offset, void* to, size_t n) const noexcept {
  if (is_revoked(offset & ~(page - 1))) return false;
  std::memcpy(to, base_ + offset, n);
  return true;
}

void medium::do_encode(writer& w, void* dst, const void* src, void* delta, size_t n,
                       volatile uint32_t* done) noexcept {
  const auto* old = static_cast<const std::byte*>(dst);
  const auto* fresh = static_cast<const std::byte*>(src);
  auto* out = static_cast<std::byte*>(delta);
  for (size_t i = 0; i < n; ++i) out[i] = old[i] ^ fresh[i];
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *done = static_cast<uint32_t>(n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  do_stream(w, dst, src, n);
}

void medium::do_fold(writer& w, void* dst, const void* delta, size_t n,
                     volatile uint32_t* done) noexcept {
  const auto* old = static_cast<const std::byte*>(dst);
  const auto* with = static_cast<const std::byte*>(delta);
  std::byte fresh[page];
  for (size_t i = 0; i < n; ++i) fresh[i] = old[i] ^ with[i];
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *done = static_cast<uint32_t>(n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  do_store(dst, fresh, n);
  do_flush(w, dst, n);
}

}  // namespace scute::medium

// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/rounding.hpp"

namespace scute::core::tx {
namespace {

constexpr uint64_t block_size = uint64_t{256} << 10;
constexpr uint64_t page = 4096;
// The most memory that all kept mappings may have, and the most mappings.
constexpr uint64_t spare_max = uint64_t{32} << 20;
constexpr size_t spares_max = 16;

}  // namespace

void arena::release(const block& b) noexcept {
  unpoison(b.at, b.size);
  if (b.big)
    ::munmap(b.at, b.size);
  else
    std::free(b.at);
}

arena::~arena() {
  for (const auto& b : blocks_) release(b);
  for (const auto& b : spare_) release(b);
  if (current_.at != nullptr) release(current_);
}

// Takes a new block to fill, since the current one has no room for `size`.
void arena::next_block(uint64_t size) {
  const uint64_t wanted = std::max(size, block_size);
  blocks_.reserve(blocks_.size() + 1);
  auto* at = static_cast<std::byte*>(std::aligned_alloc(64, wanted));
  if (at == nullptr) throw std::bad_alloc();
  if (current_.at != nullptr) blocks_.push_back(current_);
  current_ = block{at, wanted};
  used_ = 0;
}

std::byte* arena::map_big(uint64_t size) {
  blocks_.reserve(blocks_.size() + 1);
  spare_.reserve(spares_max);
  for (auto it = spare_.begin(); it != spare_.end(); ++it) {
    if (it->size < size || it->size / 4 > size) continue;
    blocks_.push_back(std::move(*it));
    spare_.erase(it);
    return blocks_.back().at;
  }
  const uint64_t length = round_up(size, page);
  block made{nullptr, length, true, std::vector<uint64_t>((length / page + 63) / 64)};
  void* at = ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  made.at = static_cast<std::byte*>(at);
  blocks_.push_back(std::move(made));
  return static_cast<std::byte*>(at);
}

void arena::touch_big(const std::byte* at, uint64_t n) {
  for (block& b : blocks_) {
    if (!b.big || at < b.at || at >= b.at + b.size) continue;
    const auto from = static_cast<uint64_t>(at - b.at);
    for (uint64_t i = from / page; i * page < from + n; ++i) {
      const uint64_t bit = uint64_t{1} << i % 64;
      b.page_count += (b.pages[i / 64] & bit) == 0;
      b.pages[i / 64] |= bit;
    }
    return;
  }
}

std::byte* arena::scratch(uint64_t size) {
  std::byte* at = size >= big_size ? map_big(size) : bump(size);
  if (size >= big_size) touch_big(at, size);
  unpoison(at, size);
  return at;
}

// The mapping stays, without memory.
void arena::empty(block& b) noexcept {
  unpoison(b.at, b.size);
  ::madvise(b.at, b.size, MADV_DONTNEED);
  std::fill(b.pages.begin(), b.pages.end(), 0);
  b.page_count = 0;
}

// Keeps the mapping used last rather than one that was not used in this transaction: the program
// may be editing another object from now on.
void arena::give_back() {
  uint64_t kept = 0;
  for (const auto& b : spare_) kept += b.page_count * page;
  for (auto& b : blocks_) {
    if (!b.big) {
      release(b);
      continue;
    }
    if (kept + b.page_count * page > spare_max) {
      for (block& other : spare_)
        if (other.page_count != 0) empty(other);
      kept = 0;
      if (b.page_count * page > spare_max) empty(b);
    }
    if (spare_.size() == spares_max) {
      kept -= spare_.front().page_count * page;
      release(spare_.front());
      spare_.erase(spare_.begin());
    }
    kept += b.page_count * page;
    spare_.push_back(std::move(b));
  }
  blocks_.clear();
}

}  // namespace scute::core::tx

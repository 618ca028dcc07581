// SPDX-License-Identifier: BSD-3-Clause
#include "tx/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/rounding.hpp"

namespace scute::core::tx {
namespace {

constexpr uint64_t block_size = uint64_t{256} << 10;
constexpr uint64_t spare_max = uint64_t{16} << 20;

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

// A new block to fill, since the current one has no room for `size`.
void arena::next_block(uint64_t size) {
  const uint64_t wanted = std::max(size, block_size);
  blocks_.reserve(blocks_.size() + 1);
  auto* at = static_cast<std::byte*>(std::aligned_alloc(64, wanted));
  if (at == nullptr) throw std::bad_alloc();
  if (current_.at != nullptr) blocks_.push_back(current_);
  current_ = {at, wanted, false};
  used_ = 0;
}

std::byte* arena::map_big(uint64_t size) {
  blocks_.reserve(blocks_.size() + 1);
  for (auto it = spare_.begin(); it != spare_.end(); ++it) {
    if (it->size < size || it->size / 4 > size) continue;
    blocks_.push_back(*it);
    spare_.erase(it);
    return blocks_.back().at;
  }
  const uint64_t length = round_up(size, 4096);
  void* at = ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  blocks_.push_back({static_cast<std::byte*>(at), length, true});
  return static_cast<std::byte*>(at);
}

std::byte* arena::scratch(uint64_t size) {
  std::byte* at = size >= big_size ? map_big(size) : bump(size);
  unpoison(at, size);
  return at;
}

void arena::give_back() {
  uint64_t kept = 0;
  for (const auto& b : spare_) kept += b.size;
  for (const auto& b : blocks_) {
    if (b.big && kept + b.size <= spare_max) {
      kept += b.size;
      spare_.push_back(b);
    } else {
      release(b);
    }
  }
  blocks_.clear();
}

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
// The memory that a section uses while it is open. It belongs to the slot, so that the next section
// there needs no allocation. Only the thread that has the slot uses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_buffer.hpp"
#include "pow/index.hpp"
#include "pow/sections/dependencies.hpp"

namespace scute::core::pow {

class table;

struct held_lock {
  void* lock;
  void (*unlock)(void*);
  bool shared;
};

// An object that the section changes.
struct section_item {
  table* t;
  uint64_t index;
  entry* e;
  uint32_t size;     // of the bytes that were written
  uint32_t segment;  // where; nowhere: not yet
  uint64_t version;
  bool erases;
};

// Called newest first if the section aborts (back), or in order when it has committed (done);
// either may be null.
struct section_action {
  void (*back)(void* who, void* what);
  void (*done)(void* who, void* what);
  void* who;
  void* what;
};

// Bytes that do not move until clear(), aligned for every type.
class undo_bytes {
 public:
  // Throws std::bad_alloc.
  void* take(size_t n) {
    n = (n + 15) / 16 * 16;
    if (n > left_) {
      const size_t size = std::max(n, chunk_size);
      chunks_.reserve(chunks_.size() + 1);
      chunks_.emplace_back(new std::byte[size]);
      next_ = chunks_.back().get();
      left_ = size;
    }
    void* const at = next_;
    next_ += n;
    left_ -= n;
    return at;
  }
  // The first chunk stays.
  void clear() noexcept {
    if (chunks_.empty()) return;
    chunks_.resize(1);
    next_ = chunks_.front().get();
    left_ = chunk_size;  // (at least)
  }

 private:
  static constexpr size_t chunk_size = 4096;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

struct section_memory {
  std::vector<held_lock> locks;
  std::vector<section_item> items;
  std::vector<section_action> actions;
  undo_bytes saved;
  dependencies rest_on, left;
  byte_buffer image;
  std::unique_ptr<std::byte[]> place;  // of a section whose handle a program has

  // Makes it ready for the next section. It frees memory that only a large section needs.
  void clear() noexcept {
    constexpr size_t items_kept = 1024, bytes_kept = size_t{64} << 10;
    locks.clear();
    items.clear();
    actions.clear();
    saved.clear();
    rest_on.clear();
    left.clear();
    if (items.capacity() > items_kept) items = {};
    if (actions.capacity() > items_kept) actions = {};
    if (image.size() > bytes_kept) image = byte_buffer();
  }
};

}  // namespace scute::core::pow

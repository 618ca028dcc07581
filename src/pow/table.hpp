// SPDX-License-Identifier: BSD-3-Clause
// A table: objects of one kind, each with an index. The owner of the objects in memory (the typed
// interfaces, or a C program) serializes them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/locks/lock.hpp"
#include "pow/index.hpp"

namespace scute::core::pow {

// The serializer of a table's objects. The committing thread calls it, with the program's locks
// held.
class serializer {
 public:
  virtual ~serializer() = default;
  // measure() returns the object's present size in bytes; encode() writes exactly so many. If
  // either throws, the section ends with nothing written.
  virtual uint32_t measure(uint64_t index) = 0;
  virtual void encode(uint64_t index, std::byte* to, uint32_t size) = 0;
  // Receives an object that recovery has found. If this throws, attaching fails.
  virtual void load(uint64_t index, uint32_t tag, const std::byte* bytes, uint32_t n) = 0;
};

// Where recovery has found an object; kept until the table has its serializer.
struct location {
  uint32_t segment;
  uint32_t position;  // of the frame, in lines
  uint32_t inside;    // of the bytes, from the frame's beginning
};

class table {
 public:
  explicit table(uint32_t n) : number(n), found(new chunked<location>) {}

  const uint32_t number;
  // Written once, when it is made or recovered.
  std::string name;
  uint32_t type = 0;  // the program's number of the type; 0: any
  uint32_t size = 0;  // of every object; 0: they vary

  entry& at(uint64_t index) {
    entry& e = entries_.at(index);
    raise(index + 1);
    return e;
  }
  entry* find(uint64_t index) const noexcept {
    return index < high() ? entries_.find(index) : nullptr;
  }
  // A bound above all indexes that were ever used.
  uint64_t high() const noexcept { return high_.load(std::memory_order_acquire); }

  static constexpr uint64_t no_index = UINT64_MAX;
  // Gets an index below `most` that no object has, and whose last object is durably erased, as
  // is_durable(lane, number of a batch) says (POW-14). no_index: one becomes free when more is
  // durable. `most`: there is none at all. Any thread.
  template <typename Durable>
  uint64_t take_index(Durable&& is_durable, uint64_t most) SCUTE_EXCLUDES(lock_) {
    const locked guard(lock_);
    if (!free_.empty()) {
      const uint64_t i = free_.back();
      free_.pop_back();
      return i;
    }
    // In the order in which they were returned, so only the first one needs a test.
    if (!waiting_.empty() && is_durable(waiting_.front().lane, waiting_.front().number)) {
      const uint64_t i = waiting_.front().index;
      waiting_.pop_front();
      return i;
    }
    const uint64_t i = high();
    if (i >= most) return waiting_.empty() ? most : no_index;
    entries_.at(i);
    raise(i + 1);
    return i;
  }
  // These do not fail: without memory the index is forgotten until the next opening.
  void give_index(uint64_t i) noexcept SCUTE_EXCLUDES(lock_) {
    const locked guard(lock_);
    try {
      free_.push_back(i);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }
  // The index becomes free as soon as that batch is durable.
  void give_index(uint64_t i, uint32_t lane, uint64_t batch) noexcept SCUTE_EXCLUDES(lock_) {
    const locked guard(lock_);
    try {
      waiting_.push_back({i, lane, batch});
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }

  serializer* serialized_by = nullptr;
  bool chooses = false;  // the serializer chooses the indexes
  bool recurs = false;   // no id outlives its object, so ids may recur
  // POW-23.
  bool keeps_tags() const noexcept { return !chooses && !recurs; }
  bool is_used_up(uint64_t index) const noexcept {
    const entry* const e = keeps_tags() ? find(index) : nullptr;
    return e != nullptr && tag_of(e->state.load(std::memory_order_relaxed)) == tag_max;
  }
  // The places that recovery has found; dropped once there is a serializer.
  std::unique_ptr<chunked<location>> found;

 private:
  void raise(uint64_t high) noexcept {
    uint64_t before = high_.load(std::memory_order_relaxed);
    while (before < high && !high_.compare_exchange_weak(before, high, std::memory_order_acq_rel)) {
    }
  }
  chunked<entry> entries_;
  std::atomic<uint64_t> high_{0};
  plain_mutex lock_;
  struct waiting_index {
    uint64_t index;
    uint32_t lane;
    uint64_t number;
  };
  std::vector<uint64_t> free_ SCUTE_GUARDED_BY(lock_);
  std::deque<waiting_index> waiting_ SCUTE_GUARDED_BY(lock_);
};

}  // namespace scute::core::pow

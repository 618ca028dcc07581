// SPDX-License-Identifier: BSD-3-Clause
// DRAM for the micro-buffers of one lane: cheap to take, released all at once when the transaction
// ends, never moving. Each buffer lies between two canaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rounding.hpp"
#include "core/tx/canary.hpp"

namespace scute::core::tx {

class arena {
 public:
  arena() = default;
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  // Takes room for `size` payload bytes, 64-byte aligned and uninitialised. Before it are `front`
  // bytes of room for headers (a multiple of 32); its end serves as the front canary until it is
  // filled in. After it is the back canary. Big buffers take memory only where they are touched.
  std::byte* take(uint64_t size, uint64_t front) {
    const uint64_t lead = round_up(front, 64);
    const uint64_t total = lead + size + canary_size;
    std::byte* payload = (total >= big_size ? map_big(total) : bump(total)) + lead;
    unpoison(payload, size);
    poison(payload - front, front);  // all of it: AddressSanitizer reports writes there
    plant_canary(payload - front_canary(front), front_canary(front));
    plant_canary(payload + size, canary_size);
    return payload;
  }

  // Notes that bytes of a buffer from take() are about to be written for the first time in this
  // transaction. Without that call the arena keeps more memory than it counts.
  void touch(const std::byte* payload, uint64_t from, uint64_t to) {
    if (!blocks_.empty()) touch_big(payload + from, to - from);
  }

  // Plain room without canaries, 16-byte aligned.
  std::byte* scratch(uint64_t size);

  // Tests both canaries of a buffer from take().
  static bool intact(const std::byte* payload, uint64_t size, uint64_t front) noexcept {
    const uint64_t guarded = front_canary(front);
    return canary_intact(payload - guarded, guarded) && canary_intact(payload + size, canary_size);
  }

  // With AddressSanitizer the canaries are poisoned; this makes a buffer's front usable.
  static void open_front(std::byte* payload, uint64_t front) noexcept {
    unpoison(payload - front, front);
  }

  void reset() {
    if (!blocks_.empty()) give_back();  // else everything fitted one block, as usual
    used_ = 0;
  }

 private:
  static constexpr uint64_t front_canary(uint64_t front) noexcept {
    return front < front_canary_max ? front : front_canary_max;
  }

  struct block {
    std::byte* at = nullptr;
    uint64_t size = 0;
    bool big = false;
    // For big ones: which pages have memory, according to touch(), and how many.
    std::vector<uint64_t> pages = {};
    uint64_t page_count = 0;
  };
  // From this size on a buffer gets a mapping of its own, whose untouched pages cost nothing: a
  // small edit of a large object then takes memory for the edit only. Mappings are kept for the
  // next transactions, with their pages as far as these are few. Otherwise a program that edits one
  // large object again and again would pay for the same pages each time.
  static constexpr uint64_t big_size = uint64_t{64} << 10;

  std::byte* bump(uint64_t size) {
    size = round_up(size, 64);
    if (current_.size - used_ < size) [[unlikely]]
      next_block(size);
    std::byte* at = current_.at + used_;
    used_ += size;
    return at;
  }
  void next_block(uint64_t size);
  void give_back();
  std::byte* map_big(uint64_t size);
  void touch_big(const std::byte* at, uint64_t n);
  static void release(const block& b) noexcept;
  static void empty(block& b) noexcept;

  std::vector<block> blocks_;  // in use, besides the one that is being filled
  std::vector<block> spare_;
  uint64_t used_ = 0;  // of the current bump block
  block current_;
};

}  // namespace scute::core::tx

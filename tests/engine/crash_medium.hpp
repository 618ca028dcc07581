// SPDX-License-Identifier: BSD-3-Clause
// A medium that loses power on demand. Kept small: it models what the redo engine relies on.
//
//   stream()  8-byte words that become durable in any order, at the latest at the writer's fence
//   flush()   whole lines, as they are at the flush, durable at the latest at the writer's fence
//   anything else found changed in the mapping: cached stores that may or may not have been evicted
//
// At every fence, before it takes effect, the observer sees the durable image and what is pending.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "medium/medium.hpp"

namespace scute::test {

struct pending_bytes {
  uint64_t offset;
  std::vector<std::byte> bytes;
  bool words;      // may tear at 8 bytes; otherwise at lines
  const void* by;  // the writer whose fence completes it; null: nobody's
};

class crash_medium final : public medium::medium {
 public:
  using image = std::vector<std::byte>;

  explicit crash_medium(const image& from) : durable(from), seen_(from) {
    size_ = from.size();
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(base_, from.data(), size_);
    kind_ = ::scute::medium::kind::simulated;
  }
  ~crash_medium() override { ::munmap(base_, size_); }
  const char* flush_name() const noexcept override { return "simulated"; }

  // An image that a crash right now could leave. `mode` 0: nothing pending made it, 1: everything
  // did, otherwise a random subset.
  image crash(unsigned mode, std::mt19937_64& random) {
    notice_stores();
    image result = durable;
    for (const auto& p : pending) {
      const uint64_t unit = p.words ? 8 : 64;
      const unsigned bias = static_cast<unsigned>(random() % 4);
      for (uint64_t at = 0; at < p.bytes.size();) {
        const uint64_t n = std::min(p.bytes.size() - at, unit - (p.offset + at) % unit);
        if (mode == 1 || (mode > 1 && random() % 4 <= bias))
          std::memcpy(result.data() + p.offset + at, p.bytes.data() + at, n);
        at += n;
      }
    }
    return result;
  }

  image durable;
  std::vector<pending_bytes> pending;
  std::function<void()> before_fence;
  // For proving that the test can fail: fences that do nothing.
  std::function<bool()> fence_works = [] { return true; };

 protected:
  void do_stream(::scute::medium::writer& w, void* dst, const void* src,
                 size_t n) noexcept override {
    std::memcpy(dst, src, n);
    note(dst, n, true, &w);
  }
  void do_flush(::scute::medium::writer& w, const void* p, size_t n) noexcept override {
    const uint64_t begin = offset_of(p) & ~uint64_t{63};
    const uint64_t end = (offset_of(p) + n + 63) & ~uint64_t{63};
    note(base_ + begin, end - begin, false, &w);
  }
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
    note(dst, n, false, nullptr);
  }
  void do_fence(::scute::medium::writer& w) noexcept override {
    notice_stores();
    if (before_fence) before_fence();
    if (!fence_works()) return;
    std::vector<pending_bytes> rest;
    for (auto& p : pending) {
      if (p.by != &w) {
        rest.push_back(std::move(p));
        continue;
      }
      std::memcpy(durable.data() + p.offset, p.bytes.data(), p.bytes.size());
      // What was stored there before can no longer become durable after it.
      for (auto& older : rest) {
        const uint64_t begin = std::max(older.offset, p.offset);
        const uint64_t end = std::min(older.offset + older.bytes.size(), p.offset + p.bytes.size());
        if (begin < end)
          std::memcpy(older.bytes.data() + (begin - older.offset),
                      p.bytes.data() + (begin - p.offset), end - begin);
      }
    }
    pending = std::move(rest);
  }

 private:
  uint64_t offset_of(const void* p) const noexcept {
    return static_cast<uint64_t>(static_cast<const std::byte*>(p) - base_);
  }
  void note(const void* at, size_t n, bool words, const void* by) {
    const uint64_t offset = offset_of(at);
    const auto* bytes = static_cast<const std::byte*>(at);
    pending.push_back({offset, {bytes, bytes + n}, words, by});
    std::memcpy(seen_.data() + offset, bytes, n);
  }
  // Stores that went straight to the mapping.
  void notice_stores() {
    for (uint64_t at = 0; at < size_; at += 4096) {
      if (std::memcmp(base_ + at, seen_.data() + at, 4096) == 0) continue;
      for (uint64_t l = at; l < at + 4096; l += 64)
        if (std::memcmp(base_ + l, seen_.data() + l, 64) != 0) note(base_ + l, 64, false, nullptr);
    }
  }

  image seen_;
};

}  // namespace scute::test

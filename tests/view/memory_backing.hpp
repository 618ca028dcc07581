// SPDX-License-Identifier: BSD-3-Clause
// A medium for tests: memory that is shared with children, where a commit is one decision by a log
// of its own, and which knows what was decided apart from what may have been damaged since.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "shield/view/backing.hpp"
#include "shield/view/line.hpp"

namespace scute::view_tests {
using namespace core;

// Pages shared with children of this process, zeros at first and only where they are used.
class shared_pages {
 public:
  explicit shared_pages(uint64_t n) : n_(n) {
    void* at = ::mmap(nullptr, n, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("mmap");
    at_ = static_cast<std::byte*>(at);
  }
  ~shared_pages() { ::munmap(at_, n_); }
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;
  std::byte* data() const noexcept { return at_; }
  uint64_t size() const noexcept { return n_; }

 private:
  std::byte* at_;
  uint64_t n_;
};

class memory_backing final : public view::backing {
 public:
  memory_backing(uint64_t size, uint64_t capacity, size_t lines_max = view::line_size * 4)
      : lines_max_(lines_max),
        capacity_(capacity),
        bytes_(capacity),
        decided_(capacity),
        log_(sizeof(log_head) + lines_max * sizeof(log_entry)) {
    head().size = size;
  }

  // ---- for the view -----------------------------------------------------------------------------
  uint64_t size() const noexcept override { return head().size; }
  size_t lines_max() const noexcept override { return lines_max_; }
  bool read(uint64_t offset, std::span<std::byte> to) noexcept override {
    if (!repair(offset, to.size())) return false;
    std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return true;
  }
  std::span<const std::byte> raw(uint64_t offset) noexcept override {
    if (!with_raw) return {};
    // In parts, as a file of several zones lies.
    constexpr uint64_t part = 1 << 20;
    return bytes().subspan(offset).first(std::min(size() - offset, part - offset % part));
  }
  bool repair(uint64_t offset, size_t n) noexcept override {
    if (lost) return false;
    if (!is_right(offset, n)) {
      ++repairs;
      std::memcpy(bytes_.data() + offset, decided_.data() + offset, n);
    }
    return true;
  }
  bool commit(std::span<const view::change> set) noexcept override {
    if (before) before();
    if (failing) return false;
    log_head& h = head();
    uint64_t end = 0;
    for (size_t i = 0; i < set.size(); ++i) {
      const view::change& c = set[i];
      if (c.length > view::line_size || c.offset < end || c.offset + c.length > size() ||
          set.size() > lines_max_)
        wrong = "a set of changes out of order, or out of the file";
      end = c.offset + c.length;
      // An engine adds to its parity the difference to the bytes that lie there (SHIELD-6).
      if (!is_right(c.offset, c.length) ||
          std::memcmp(c.old, decided_.data() + c.offset, c.length) != 0)
        wrong = "a change rests on damaged bytes";
      entries()[i].offset = c.offset;
      entries()[i].length = c.length;
      std::memcpy(entries()[i].bytes, c.bytes, c.length);
    }
    h.count.store(set.size());  // the decision
    apply();
    if (fails_decided) {
      failing = true;
      return false;
    }
    ++commits;
    lines += set.size();
    if (after) after();
    return true;
  }
  bool grow(uint64_t n) noexcept override {
    if (failing || n > capacity_) return false;
    head().size = n;
    return true;
  }
  uint64_t next_data(uint64_t offset) noexcept override {
    return with_holes && offset >= data_end ? UINT64_MAX : offset;
  }

  // ---- for tests --------------------------------------------------------------------------------
  // After the death of a process.
  void recover() noexcept { apply(); }
  std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size()}; }
  // The bytes of a file from before there was a view.
  void put(uint64_t offset, std::span<const std::byte> from) {
    std::memcpy(bytes_.data() + offset, from.data(), from.size());
    std::memcpy(decided_.data() + offset, from.data(), from.size());
  }
  void damage(uint64_t offset) noexcept { bytes_.data()[offset] ^= std::byte{0x10}; }
  // The same state, for a run that continues from there.
  void copy_to(memory_backing& to) const {
    std::memcpy(to.bytes_.data(), bytes_.data(), size());
    std::memcpy(to.decided_.data(), decided_.data(), size());
    std::memcpy(to.log_.data(), log_.data(), log_.size());
  }

  bool with_raw = true, with_holes = false, failing = false, lost = false;
  bool fails_decided =
      false;  // the next commit is made, and fails all the same; and so do all others

  uint64_t data_end = 0;
  uint64_t commits = 0, lines = 0, repairs = 0;
  std::function<void()> before, after;  // a decision
  const char* wrong = nullptr;

 private:
  struct log_head {
    std::atomic<uint64_t> count;
    std::atomic<uint64_t> size;
  };
  struct log_entry {
    uint64_t offset, length;
    std::byte bytes[view::line_size];
  };
  log_head& head() const noexcept { return *reinterpret_cast<log_head*>(log_.data()); }
  log_entry* entries() const noexcept {
    return reinterpret_cast<log_entry*>(log_.data() + sizeof(log_head));
  }
  bool is_right(uint64_t offset, size_t n) const noexcept {
    return std::memcmp(bytes_.data() + offset, decided_.data() + offset, n) == 0;
  }
  void apply() noexcept {
    for (uint64_t i = 0; i < head().count.load(); ++i) {
      const log_entry& e = entries()[i];
      std::memcpy(decided_.data() + e.offset, e.bytes, e.length);
      std::memcpy(bytes_.data() + e.offset, e.bytes, e.length);
    }
    head().count.store(0);
  }

  const size_t lines_max_;
  const uint64_t capacity_;
  shared_pages bytes_, decided_, log_;
};

}  // namespace scute::view_tests

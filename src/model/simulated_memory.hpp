// SPDX-License-Identifier: BSD-3-Clause
// Memory that stands in for a pool file, below a simulated medium. The program sees the mapping,
// and does not know what would survive. Every store, flush and fence is reported to a listener (a
// recorder, or a persistence model), which also decides when another thread runs.
//
// The memory outlives the pools opened in it, as a file outlives its openings. It is not for
// threads that really run concurrently.
//
// It needs no explorer: the listener may be a persistence model alone. Then code that stores
// through stream(), store(), flush() and fence() can be examined store by store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scute::model {

class memory_listener {
 public:
  virtual ~memory_listener() = default;
  // Called before the operation that the next call will report. The operation concerns these bytes
  // (none for a fence) and has not touched them yet. Another thread may run before this returns.
  virtual void before(uint64_t /*offset*/, size_t /*n*/) {}
  // Called when the bytes are in the memory.
  virtual void streamed(uint64_t offset, size_t n, unsigned writer) = 0;
  virtual void stored(uint64_t offset, size_t n) = 0;
  virtual void flushed(uint64_t offset, size_t n, unsigned writer) = 0;
  virtual void fenced(unsigned writer) = 0;
  // A fault, and not the program, has changed the bytes, durably.
  virtual void damaged(uint64_t offset, size_t n) = 0;
};

class simulated_memory {
 public:
  static constexpr uint64_t page = 4096;

  simulated_memory(uint64_t size, bool eadr);
  ~simulated_memory();
  simulated_memory(const simulated_memory&) = delete;
  simulated_memory& operator=(const simulated_memory&) = delete;

  std::span<std::byte> bytes() const noexcept { return {base_, size_}; }
  bool eadr() const noexcept { return eadr_; }

  // Takes away access to a page, and gives it back (without an offset: to all).
  void protect(uint64_t offset) noexcept;
  void unprotect(uint64_t offset) noexcept;
  void unprotect() noexcept;
  bool is_protected(uint64_t offset) const noexcept {
    return any_protected_ && (protected_[offset / page / 64] >> offset / page % 64 & 1) != 0;
  }

  // Null without a listener.
  memory_listener* listener = nullptr;

  // Pages that were written through media or touch() since the last restore().
  void touch(uint64_t offset, size_t n) noexcept;
  // Makes all touched pages equal to `image`; with `all`, every page that differs.
  void restore(std::span<const std::byte> image, bool all) noexcept;
  // Makes all touched pages equal to `image`, which elsewhere equals the image last restored; they
  // still count as touched.
  void rewind(std::span<const std::byte> image) noexcept;
  // True if a page that was not touched differs from `image`: a store that was never announced.
  bool strayed(std::span<const std::byte> image) const noexcept;

  // The operations of a medium: they change the bytes, and notify the listener. Writers are
  // identified by numbers. The range has at least one byte.
  void stream(uint64_t offset, const void* from, size_t n, unsigned writer);
  void store(uint64_t offset, const void* from, size_t n);
  void flush(uint64_t offset, size_t n, unsigned writer);
  void fence(unsigned writer);
  unsigned next_writer() noexcept { return writers_++; }

 private:
  std::byte* base_;
  uint64_t size_;
  bool eadr_;
  std::vector<uint64_t> touched_;  // a bit per page
  unsigned writers_ = 1;
  bool any_protected_ = false;
  std::vector<uint64_t> protected_;  // a bit per page
};

}  // namespace scute::model

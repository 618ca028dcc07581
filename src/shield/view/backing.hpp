// SPDX-License-Identifier: BSD-3-Clause
// The file below a view. Its bytes are protected, and it changes only by sets of lines, each set as
// a whole. The view makes the calls below one at a time, with its commit lock held. The exception
// is read(): page-ins call it at any time and from any thread.
//
// BACKING-1 commit() is one decision: after a power failure at any moment either all changes of the
//    set are present or none is. True: they are durable. False: nothing has changed, or the backing
//    has failed. In the latter case only its next opening finds out which, and every commit()
//    returns false until then.
// BACKING-2 The bytes that read() returns have passed their checksums, after repair if need be. So
//    they are decided bytes and no others.
// BACKING-3 Two changes of a set never overlap, and they are in the order of their offsets.
//
// A fence in a signal handler calls the backing from the handler. The view itself allocates nothing
// on that path. A backing that allocates must not serve programs that fence in handlers which may
// interrupt the allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::core::view {

struct change {
  uint64_t offset;         // of the file, a multiple of 64
  const std::byte* bytes;  // the new bytes; the view's until commit() returns
  const std::byte* old;    // the present bytes, tested (VIEW-6); also the view's
  uint32_t length;         // 64, or less where the file ends
};

class backing {
 public:
  backing() = default;
  virtual ~backing() = default;
  backing(const backing&) = delete;
  backing& operator=(const backing&) = delete;

  virtual uint64_t size() const noexcept = 0;
  // Returns false if bytes are lost beyond repair; the view then uses none of them.
  [[nodiscard]] virtual bool read(uint64_t offset, std::span<std::byte> to) noexcept = 0;
  // BACKING-1
  [[nodiscard]] virtual bool commit(std::span<const change> set) noexcept = 0;
  // Makes the file longer, with zeros; durable on return. Never shorter.
  [[nodiscard]] virtual bool grow(uint64_t size) noexcept = 0;
  // How many lines one commit() takes; at least view::lines_least. May not change.
  virtual size_t lines_max() const noexcept = 0;

  // The bytes from this offset on as they lie on the medium, unverified and for reading, as far as
  // they are contiguous; empty if the backing has no such place. The span stays valid until the
  // file grows. If there is one, a commit set does not call read() for old lines: it tests these
  // bytes against the digests (VIEW-6), and calls repair() if one does not match.
  virtual std::span<const std::byte> raw(uint64_t) noexcept { return {}; }
  // Verifies these bytes on the medium and repairs them. Returns true if they are right now.
  [[nodiscard]] virtual bool repair(uint64_t, size_t) noexcept { return true; }
  // The first offset at or after this one that may hold something else than zeros; for large files
  // with holes.
  virtual uint64_t next_data(uint64_t offset) noexcept { return offset; }
};

// Places the bytes of pages where the program finds them, for views whose pages are loaded on first
// access (VIEW-11). A thread that touches a page earlier waits; the view has no part in that.
class page_placer {
 public:
  page_placer() = default;
  virtual ~page_placer() = default;
  page_placer(const page_placer&) = delete;
  page_placer& operator=(const page_placer&) = delete;
  // Places whole pages in order, each with all of its bytes at once. Returns true if all were
  // placed. Otherwise `placed` is their number. A page that is already present stays unchanged, and
  // the call stops there.
  virtual bool place(uint64_t offset, std::span<const std::byte> bytes,
                     size_t& placed) noexcept = 0;
  // Makes the page a hole (VIEW-12). Returns false if it stays.
  virtual bool take(uint64_t offset) noexcept = 0;
};

// Keeps stores away from a page of the view while its lines are copied, for processors that cannot
// load a whole line at once (line_copy.hpp). When hold() returns, no store to these bytes can be
// under way in any mapping. The caller's fault handler lets a store of the program wait until
// release().
class page_guard {
 public:
  page_guard() = default;
  virtual ~page_guard() = default;
  page_guard(const page_guard&) = delete;
  page_guard& operator=(const page_guard&) = delete;
  virtual bool hold(uint64_t offset, size_t n) noexcept = 0;
  virtual void release(uint64_t offset, size_t n) noexcept = 0;
  // Holds the whole view at once, where no thread but the caller can store. Returns false if pages
  // have to be held one by one. One thread at a time calls it.
  virtual bool hold_all() noexcept { return false; }
  // Returns false if another thread has stored all the same; the copies must then be made again.
  virtual bool release_all() noexcept { return true; }
};

}  // namespace scute::core::view

// SPDX-License-Identifier: BSD-3-Clause
// What a view rests on: a file whose bytes are protected, and that changes by sets of lines only,
// each set as a whole. The view gives the calls below with its commit lock held, so one at a time,
// except read(), which page-ins call at any time and from any thread.
//
// BACKING-1 commit() is one decision: after a power failure at any moment either all changes of the
//    set are there or none is. When it returns true they are durable; when it returns false nothing
//    has changed, or the backing has failed: then only its next opening tells, and until then every
//    commit() returns false.
// BACKING-2 What read() gives has passed its checksums, healed if need be; so what was decided and
//           nothing else.
// BACKING-3 Two changes of a set never overlap, and they are in the order of their offsets.
//
// A fence in a signal handler comes here from the handler. The view itself allocates nothing on
// that way; a backing that does must not be used by programs that fence in handlers which may
// interrupt the allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::core::view {

struct change {
  uint64_t offset;         // of the file, a multiple of 64
  const std::byte* bytes;  // what is to be there; the view's until commit() returns
  const std::byte* old;    // what is there, tested (VIEW-6); the view's as well
  uint32_t length;         // 64, or less where the file ends
};

class backing {
 public:
  backing() = default;
  virtual ~backing() = default;
  backing(const backing&) = delete;
  backing& operator=(const backing&) = delete;

  virtual uint64_t size() const noexcept = 0;
  // False if bytes are lost that nobody can rebuild; then the view does not use any of them.
  [[nodiscard]] virtual bool read(uint64_t offset, std::span<std::byte> to) noexcept = 0;
  // BACKING-1
  [[nodiscard]] virtual bool commit(std::span<const change> set) noexcept = 0;
  // Makes the file longer, with zeros; durable on return. Never shorter.
  [[nodiscard]] virtual bool grow(uint64_t size) noexcept = 0;
  // How many lines one commit() takes; at least view::lines_least. May not change.
  virtual size_t lines_max() const noexcept = 0;

  // The bytes from this offset on where they lie, unverified, for reading, as far as they lie
  // together; empty if there is no such place. They stay there until the file grows. With it a
  // commit set asks for no old line by read(): they are tested against digests (VIEW-6), and heal()
  // is called when one does not match.
  virtual std::span<const std::byte> raw(uint64_t) noexcept { return {}; }
  // Verifies these bytes on the medium and mends them. True if they are right now.
  [[nodiscard]] virtual bool heal(uint64_t, size_t) noexcept { return true; }
  // The first offset at or after this one where there may be other bytes than zeros: for large
  // files with holes.
  virtual uint64_t next_data(uint64_t offset) noexcept { return offset; }
};

// Puts the bytes of pages where a program finds them, for views whose pages come when they are
// touched (VIEW-11). Whoever touches one before waits, outside of the view.
class page_placer {
 public:
  page_placer() = default;
  virtual ~page_placer() = default;
  page_placer(const page_placer&) = delete;
  page_placer& operator=(const page_placer&) = delete;
  // Whole pages, in their order, each at once with all of its bytes. True: all of them. Otherwise
  // `placed` says how many were; a page that is there already is not changed, and ends it.
  virtual bool place(uint64_t offset, std::span<const std::byte> bytes,
                     size_t& placed) noexcept = 0;
  // Makes the page a hole (VIEW-12). False: it stays.
  virtual bool take(uint64_t offset) noexcept = 0;
};

// Keeps stores away from a page of the view while its lines are copied, for processors that have no
// load of a whole line (line_copy.hpp). hold() returns when no store to these bytes can be under
// way in any mapping; the caller's handler of faults lets a program's store wait until release().
class page_guard {
 public:
  page_guard() = default;
  virtual ~page_guard() = default;
  page_guard(const page_guard&) = delete;
  page_guard& operator=(const page_guard&) = delete;
  virtual bool hold(uint64_t offset, size_t n) noexcept = 0;
  virtual void release(uint64_t offset, size_t n) noexcept = 0;
  // All of the view at once, where nobody can store but who asks. False: page by page. One at a
  // time asks.
  virtual bool hold_all() noexcept { return false; }
  // False: somebody has stored meanwhile all the same, and what was copied has to be copied again.
  virtual bool release_all() noexcept { return true; }
};

}  // namespace scute::core::view

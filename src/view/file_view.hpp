// SPDX-License-Identifier: BSD-3-Clause
// The view of a file: ordinary memory that a program maps in place of the medium. Its flushes and
// fences are told to the view, which groups what was flushed into sets of lines (commit sets) and
// commits each to the backing. A commit set leaves a state that x86 permits the program after a
// power failure, had it been on persistent memory. docs/internals/shield.md, "View and commit
// sets", says why; page 55 of the design has the paper behind it.
//
// SHIELD-1 The medium changes in backing::commit() and backing::grow() only.
// SHIELD-2 Every state of the medium is one that x86 permits the unprotected program after a power
//    failure; after a process's death it is the last view.
// SHIELD-3 A fence outside of windows, and the end of the outermost window in which there was one,
//    returns only when the commit set that holds the thread's lines is decided.
// SHIELD-4 Lines that nobody flushed are written by write_back() and crash_writeback(), and
//          counted.
// SHIELD-5 A commit set takes the lines that any thread has flushed. A line is unmarked before it
//    is copied, and copied by one load of 64 bytes; when all are copied the lists are read again,
//    and what has come is added.
// SHIELD-6 What is committed rests on old bytes that were tested against their digests (VIEW-6).
// SHIELD-8 Commit sets are decided one at a time, under the commit lock, in the order in which they
//          were taken.
//
// VIEW-1 A line that was flushed and is in no decided commit set is always in one of: an entry of a
//    list that was not taken, the pending bits, the in-set bits. So a process may die anywhere.
// VIEW-2 A flush marks the line first and lists it then, always: that the mark was there says
//    nothing, since whoever made it may not have listed it yet. (Left out is only what this thread
//    itself has listed, where the entry was not taken yet.) A commit set passes by an entry whose
//    mark is gone: the line was copied, in this commit set or an earlier one, after it was marked.
// VIEW-3 For each entry: its line goes to the in-set bits, then the entry counts as taken, then the
//    mark is cleared, then the line is copied. The in-set bits are cleared when the commit set is
//    decided.
// VIEW-4 A commit set never has more lines than the backing takes: all lists together hold a sixth
//    of that at most, and a thread whose list is full makes a commit set. So no commit set is ever
//    divided, in windows neither; and what a failed or dead one leaves fits into the next, with all
//    that was flushed since.
// VIEW-5 After 8 rounds, or when a third is full, new flushes wait for the end of the commit set.
//    What threads were about to list still comes, one line each; the lists are read until nothing
//    does.
// VIEW-6 A line of a commit set changes if its copy has another digest than what was committed
//    there last. Then the old bytes are compared with that digest. If they differ the backing heals
//    them, and the commit set goes on only if it could. After a death the digests of lines in a
//    commit set are made anew from what the backing reads.
// VIEW-9 Who watches may halt the view before a commit set is committed: from then on none is. What
//    any commit set has not decided by then counts as unflushed: flushed lines of later fences must
//    not come without those of earlier ones.
// VIEW-10 A commit that has failed may have been decided all the same, which only the next opening
//    of the backing tells. So its lines stay in the in-set bits, and after the process's death
//    their digests are made anew; and until a commit has succeeded no line counts as unchanged by
//    its digest, so no commit set is decided without the backing.
// VIEW-11 Pages that come when they are touched are placed as a whole by somebody who keeps
//    everybody else waiting (page_placer): their digests are complete first, then they count as
//    coming, then they are placed, then they count as loaded. A page may be stored to and flushed
//    as soon as it is placed, so one that is coming counts as loaded for who flushes, and whoever
//    wants its bytes waits until it is. After a death one that was coming and is a hole had not
//    been placed, and nobody has touched it.
// VIEW-12 Such a page goes only while stores to it wait, no commit set is under way and no page
//    comes, and only if each line of it is what was committed last. It counts as coming before it
//    becomes a hole, and as absent after that; so at a death it is there, or it is not and nothing
//    was lost.
// VIEW-8 A page counts as loaded only when its bytes and digests are complete. Nothing of other
//    pages is committed. Pages that do not count as loaded have digests of zeros, unless a process
//    died loading them.
//
// Threads: flush, nt_store, fence, clflush and the windows may be called by any thread with a
// flusher of its own, and in signal handlers (VIEW-7); nothing is allocated there. The others are
// not for handlers; they may run beside everything else. After a fork the child must not use the
// view. A handler that interrupts the view must return (no longjmp).
//
// Errors: false means that the backing has failed; the lines stay pending, and the next call tries
// again. Such a program must not go on as if they were durable. Constructors throw failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/waiting.hpp"
#include "view/audit.hpp"
#include "view/backing.hpp"
#include "view/flusher.hpp"
#include "view/line_watch.hpp"
#include "view/region.hpp"

namespace scute::core::view {

class commit_set;

struct view_parts {
  // region::size() bytes that were formatted, shared with a supervisor if there is one
  std::span<std::byte> control;
  // The file's bytes, mapped from a file of their own so that descriptors of the program's can be
  // of it: `capacity` bytes of address space, of which the first file-size bytes, rounded up to
  // pages, can be accessed.
  std::byte* bytes = nullptr;
  int bytes_file = -1;  // what they are mapped from, or none
  backing* medium = nullptr;
  page_guard* guard = nullptr;  // needed where line_copy_whole() is false
  audit_sink* sink = nullptr;   // or null
  line_watch* watch = nullptr;  // or null
  // bytes_file says exactly which pages nobody has stored to, so that they are passed by.
  bool reports_holes = true;
  page_placer* placer = nullptr;  // or null: nobody stores to a page before load() has returned
};

enum class write_reason : uint8_t { sync, unmap, end };

class file_view {
 public:
  // The shape of the region for a file on this backing that may grow to `capacity`.
  static region_shape shape_for(const backing& medium, uint64_t capacity);

  // Attaches to a region that region::format() has made; another process may have worked with it
  // before, and have died. The file's size in it must be the backing's, or less, if that process
  // died growing it; whoever goes on calls grow() then.
  explicit file_view(const view_parts& parts);
  ~file_view();
  file_view(const file_view&) = delete;
  file_view& operator=(const file_view&) = delete;

  uint64_t size() const noexcept;
  bool is_halted() const noexcept { return region_.head().halted.load() != 0; }
  // Loads the pages of a range that are not there yet: verified bytes of the backing. Without a
  // placer stores of the program to them must not have begun. With next_data() of the backing,
  // holes cost nothing. Any thread, with signals of the program's held up: one whose handler
  // touches a page that is not there would wait for itself.
  [[nodiscard]] bool load(uint64_t offset, uint64_t n);
  [[nodiscard]] bool load() { return load(0, size()); }
  // Of the range, with a placer: a byte of a page that was never loaded and has been stored to all
  // the same. Or `none`.
  static constexpr uint64_t none = UINT64_MAX;
  uint64_t first_unintercepted(uint64_t offset, uint64_t n) const noexcept;
  // With a placer: the page becomes a hole if all of it is in the medium (VIEW-12). Stores to it
  // wait meanwhile, which is the caller's affair. False: it stays. Waits for nobody.
  bool let_go(uint64_t page) noexcept;
  // It would, unless somebody stores to it meanwhile. Cheap; any thread.
  bool seems_clean(uint64_t page) noexcept {
    return region_.page(page).load(std::memory_order_acquire) == page_state::loaded &&
           is_clean(page);
  }
  // All pages of the range that are of the file are loaded. Async-signal-safe.
  bool is_loaded(uint64_t offset, uint64_t n) const noexcept;

  // The line is what was committed last, by its digest, or none of it is here. It may be stored to
  // meanwhile, and copied then in parts. Async-signal-safe; general registers only (HOOK-7 of
  // scute/shield_hooks.h).
  bool is_committed(uint64_t line) const noexcept;
  // VIEW-9: no commit set is committed any more. Async-signal-safe.
  void halt() noexcept { region_.head().halted.store(1); }

  // ---- for the program's instructions -----------------------------------------------------------

  // clwb, clflushopt: of all lines that have a byte in the range. What lies behind the file's end
  // is left out.
  [[nodiscard]] bool flush(flusher& by, uint64_t offset, uint64_t n) noexcept;
  // After non-temporal stores to the range.
  [[nodiscard]] bool nt_store(flusher& by, uint64_t offset, uint64_t n) noexcept {
    return flush(by, offset, n);
  }
  // sfence, mfence, and locked instructions where they are seen. SHIELD-3.
  [[nodiscard]] bool fence(flusher& by) noexcept;
  [[nodiscard]] bool clflush(flusher& by, uint64_t offset, uint64_t n) noexcept {
    return flush(by, offset, n) && fence(by);
  }
  // Fences in between are put off to the end of the outermost window, which makes one if there was
  // any.
  void window_begin(flusher& by) noexcept;
  [[nodiscard]] bool window_end(flusher& by) noexcept;

  // ---- for system calls -------------------------------------------------------------------------

  // msync, fsync, munmap, exit: every line of the range that differs from the medium is committed,
  // flushed or not, and everything that was flushed anywhere. `by` may be null. Not in handlers.
  [[nodiscard]] bool write_back(flusher* by, uint64_t offset, uint64_t n, write_reason why);
  // The file gets longer, and so does the backing's, first. make_room makes the view's bytes
  // accessible then; without it they are. What they hold stays as it is, and differs from the
  // medium where it is no zeros. False, and whatever make_room throws: the view has its old size.
  [[nodiscard]] bool grow(uint64_t size, const std::function<void()>& make_room = {});

  // ---- for a supervisor -------------------------------------------------------------------------

  // What the process that died had left, on a fresh file_view whose backing was recovered; nobody
  // else uses the region. Commits what was flushed. Then, if `unflushed` is commit, all that
  // differs; if it is drop, `dropped` is told of the lines that differ, and the view gets the
  // medium's bytes there. After a halt (VIEW-9) nothing is committed and all that differs is
  // dropped, whatever `what` is.
  enum class unflushed_lines : uint8_t { commit, drop };
  struct writeback_result {
    uint64_t flushed = 0;           // lines that were flushed and in no decided commit set
    uint64_t unflushed = 0;         // that differed besides
    bool dropped = false;           // these, whatever was asked for
    uint64_t unintercepted = none;  // first_unintercepted(), of a view whose process had a placer
  };
  using dropped_line = std::function<void(uint64_t offset, std::span<const std::byte> bytes)>;
  [[nodiscard]] bool crash_writeback(unflushed_lines what, writeback_result& result,
                                     const dropped_line& dropped = {});

  // Sums over all threads, and over the processes that used the region.
  audit_counters counters() const noexcept;

 private:
  flush_list& list_of(flusher& by) noexcept;
  bool flush_line(flusher& by, uint64_t line, bool nested) noexcept;
  bool fence_now(flusher& by) noexcept;
  bool read_now(uint64_t line, uint64_t (&words)[8]) const noexcept;
  bool fence_or_defer(flusher& by) noexcept;
  bool noted_fence(flusher& by) noexcept;
  bool write_differences(uint64_t offset, uint64_t n, write_reason why);
  bool load_pages(uint64_t first, uint64_t count) SCUTE_REQUIRES(loading_);
  bool place_pages(uint64_t first, uint64_t count) SCUTE_REQUIRES(loading_);
  void keep_digests(uint64_t page, const line* lines) noexcept;
  void decide_coming();
  bool is_clean(uint64_t page) noexcept;
  bool take_page(uint64_t page) noexcept SCUTE_REQUIRES(loading_);
  uint64_t next_stored(uint64_t offset) const noexcept;
  // For an audit (left_lines.cpp).
  void note_contents(uint64_t line) noexcept;
  void note_put_off(flush_list& list) noexcept;
  void forget_contents(uint64_t line) noexcept;
  void forget_contents(uint64_t offset, uint64_t n) noexcept;
  size_t find_unfenced(uint64_t offset, uint64_t n) noexcept;
  void count_unfenced(size_t n) noexcept;
  void count_early(uint64_t offset, uint64_t n) noexcept;
  void count_left(uint64_t line, left_as how) noexcept;
  // Calls fn(line, view's bytes) for lines of loaded pages that differ from the medium; false if it
  // is lost, or fn says so.
  template <typename Fn>
  bool for_each_different(uint64_t offset, uint64_t n, Fn&& fn);
  template <typename Fn>
  bool commit_different(uint64_t offset, uint64_t n, Fn&& on_line);
  bool renew(uint64_t& flushed);

  region region_;
  view_parts parts_;
  std::unique_ptr<commit_set> commit_set_;
  std::unique_ptr<uint64_t[]> batch_;  // of lines, for write_back()
  waiting_mutex loading_;
  static constexpr uint64_t pages_at_once = 16;
  // For pages that are loaded. Not on the stack, since a program's threads may have little of it.
  std::unique_ptr<line[]> room_ SCUTE_GUARDED_BY(loading_);
};

}  // namespace scute::core::view

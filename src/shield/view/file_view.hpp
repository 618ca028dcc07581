// SPDX-License-Identifier: BSD-3-Clause
// The view of a file: ordinary memory that a program maps in place of the medium. The program
// reports its flushes and fences to the view. The view groups the flushed lines into sets (commit
// sets) and commits each set to the backing. A commit set leaves a state that x86 permits the
// program after a power failure, had the file been on persistent memory. docs/internals/shield.md,
// "View and commit sets", says why.
//
// SHIELD-1 The medium changes only in backing::commit() and backing::grow().
// SHIELD-2 Every state of the medium is one that x86 permits the unprotected program after a power
//    failure. After a process's death it is the last view.
// SHIELD-3 A fence outside of windows returns only when the commit set with the thread's lines is
//    decided. So does the end of the outermost window that had a fence.
// SHIELD-4 write_back() and crash_writeback() write the lines that the program never flushed, and
//    count them.
// SHIELD-5 A commit set takes the lines that any thread has flushed. A line is unmarked before it
//    is copied, and copied by one load of 64 bytes. When all are copied, the lists are read again,
//    and new lines are added.
// SHIELD-6 A commit rests on old bytes that were tested against their digests (VIEW-6).
// SHIELD-8 Commit sets are decided one at a time, under the commit lock, in the order in which they
//    were taken.
//
// VIEW-1 A flushed line that is in no decided commit set is always in one of these: a list entry
//    that was not taken, the pending bits, the in-set bits. So a process may die anywhere.
// VIEW-2 A flush marks the line first and then always lists it, even if the mark was set: the
//    thread that set it may not have listed the line yet. (A thread omits only what it has listed
//    itself, if that entry is not taken yet.) A commit set skips an entry without a mark.
// VIEW-3 For each entry: its line enters the in-set bits, then the entry counts as taken, then the
//    mark is cleared, then the line is copied. The in-set bits are cleared when the commit set is
//    decided.
// VIEW-4 A commit set never has more lines than the backing takes: all lists together hold at most
//    a sixth of that, and a thread whose list is full makes a commit set. So no commit set is ever
//    divided, not even in windows. The lines of a failed or dead one fit into the next, with all
//    flushed since.
// VIEW-5 After 8 rounds, or when a commit set is a third full, new flushes wait for its end.
//    Threads that were about to list still do so, one line each; the lists are read until none
//    comes.
// VIEW-6 A line of a commit set changes if its copy has another digest than the bytes committed
//    last. Then the old bytes are compared with that digest. If they differ, the backing repairs
//    them; without a repair the commit set fails.
// VIEW-9 A watch may halt the view before a commit set is committed; from then on none is. Lines
//    that no commit set has decided by then count as unflushed: flushed lines of later fences must
//    not become durable without those of earlier fences.
// VIEW-10 A failed commit may have been decided all the same; only the next opening of the backing
//    finds out. So its lines stay in the in-set bits, and their digests are made again after the
//    process's death. Until a commit succeeds, no line counts as unchanged by its digest, so no
//    commit set is decided without the backing.
// VIEW-11 Pages that are loaded on first access are placed as a whole by a page_placer, which keeps
//    other accesses waiting. First their digests are complete, then they count as coming, then they
//    are placed, then they count as loaded. A coming page may be stored to and flushed.
// VIEW-12 Such a page is evicted only while stores to it wait, no commit set is under way and no
//    page comes, and only if each of its lines equals what was committed last. It counts as coming
//    before it becomes a hole, and as absent after that.
// VIEW-8 A page counts as loaded only when its bytes and digests are complete. Nothing of other
//    pages is committed. Pages that do not count as loaded have digests of zeros, unless a process
//    died loading them.
//
// About VIEW-2: the line of an entry without a mark was copied after it was marked, in this commit
// set or an earlier one.
//
// About VIEW-6: after a death, the digests of the lines in a commit set are made again from the
// bytes that the backing reads.
//
// About VIEW-11 and VIEW-12: for flushes a coming page counts as loaded. A thread that needs its
// bytes waits until it is loaded. After a death, a coming page that is a hole had either not been
// placed, so no thread had touched it; or it was evicted, so its bytes are on the medium.
//
// Threads: any thread with a flusher of its own may call flush, nt_store, fence, clflush and the
// windows, also in signal handlers (VIEW-7); these allocate nothing. The other calls are not for
// handlers; they may run concurrently with everything else. After a fork the child must not use the
// view. A handler that interrupts the view must return (no longjmp).
//
// Errors: false means that the backing has failed. The lines stay pending, and the next call tries
// again. The program must not continue as if they were durable. Constructors throw failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/locks/waiting.hpp"
#include "base/process/kept_number.hpp"
#include "shield/view/audit.hpp"
#include "shield/view/backing.hpp"
#include "shield/view/flusher.hpp"
#include "shield/view/line_watch.hpp"
#include "shield/view/region.hpp"

namespace scute::core::view {

class commit_set;

struct view_parts {
  // region::size() formatted bytes, shared with a supervisor if there is one
  std::span<std::byte> control;
  // The file's bytes, mapped from a file of their own so that the program can have descriptors of
  // it: `capacity` bytes of address space, of which the first file-size bytes, rounded up to pages,
  // can be accessed.
  std::byte* bytes = nullptr;
  kept_number bytes_file;  // the file of that mapping, or none
  backing* medium = nullptr;
  page_guard* guard = nullptr;  // needed where line_copy_whole() is false
  audit_sink* sink = nullptr;   // or null
  line_watch* watch = nullptr;  // or null
  // The holes of bytes_file are exactly the pages that no thread has stored to, so walks skip them.
  bool reports_holes = true;
  page_placer* placer = nullptr;  // or null: no store to a page before load() has returned
};

enum class write_reason : uint8_t { sync, unmap, end };

class file_view {
 public:
  // The shape of a region for a file on this backing that may grow to `capacity`.
  static region_shape shape_for(const backing& medium, uint64_t capacity);

  // Attaches to a region that region::format() has made; a process that used it before may have
  // died. The file's size in the region must be the backing's. It may be less if that process died
  // while it grew the file; the caller must then call grow().
  explicit file_view(const view_parts& parts);
  ~file_view();
  file_view(const file_view&) = delete;
  file_view& operator=(const file_view&) = delete;

  uint64_t size() const noexcept;
  bool is_halted() const noexcept { return region_.head().halted.load() != 0; }
  // Loads the absent pages of a range with verified bytes of the backing. Without a placer, the
  // program must not have begun to store to them. If the backing has next_data(), holes cost
  // nothing. Any thread may call it, with the program's signals blocked: a thread whose handler
  // touches an absent page would wait for itself.
  [[nodiscard]] bool load(uint64_t offset, uint64_t n);
  [[nodiscard]] bool load() { return load(0, size()); }
  // With a placer: the offset of a page in the range that was never loaded but has been stored to,
  // or `none`.
  static constexpr uint64_t none = UINT64_MAX;
  uint64_t first_unintercepted(uint64_t offset, uint64_t n) const noexcept;
  // With a placer: turns the page into a hole if the medium has all of its bytes (VIEW-12). The
  // caller must keep stores to the page waiting meanwhile. Returns false if the page stays. Waits
  // for no thread.
  bool let_go(uint64_t page) noexcept;
  // Whether let_go() would succeed if no thread stores to the page meanwhile. Cheap; any thread.
  bool seems_clean(uint64_t page) noexcept {
    return region_.page(page).load(std::memory_order_acquire) == page_state::loaded &&
           is_clean(page);
  }
  // Whether all pages of the range within the file are loaded. Async-signal-safe.
  bool is_loaded(uint64_t offset, uint64_t n) const noexcept;

  // Whether the line equals, by its digest, what was committed last, or its page is absent. If a
  // thread stores to the line meanwhile, its words are read at different moments.
  // Async-signal-safe; general registers only (HOOK-7 of scute/shield_hooks.h).
  bool is_committed(uint64_t line) const noexcept;
  // VIEW-9: no commit set is committed any more. Async-signal-safe.
  void halt() noexcept { region_.head().halted.store(1); }

  // ---- for the program's instructions -----------------------------------------------------------

  // clwb, clflushopt: flushes all lines that have a byte in the range, as far as the file reaches.
  [[nodiscard]] bool flush(flusher& by, uint64_t offset, uint64_t n) noexcept;
  // After non-temporal stores to the range.
  [[nodiscard]] bool nt_store(flusher& by, uint64_t offset, uint64_t n) noexcept {
    return flush(by, offset, n);
  }
  // sfence, mfence, and locked instructions where they are intercepted. SHIELD-3.
  [[nodiscard]] bool fence(flusher& by) noexcept;
  [[nodiscard]] bool clflush(flusher& by, uint64_t offset, uint64_t n) noexcept {
    return flush(by, offset, n) && fence(by);
  }
  // Fences between these calls are deferred to the end of the outermost window, which makes one if
  // there was any.
  void window_begin(flusher& by) noexcept;
  [[nodiscard]] bool window_end(flusher& by) noexcept;

  // ---- for system calls -------------------------------------------------------------------------

  // msync, fsync, munmap, exit: commits every line of the range that differs from the medium,
  // flushed or not, and all flushed lines of the view. `by` may be null. Not in handlers.
  [[nodiscard]] bool write_back(flusher* by, uint64_t offset, uint64_t n, write_reason why);
  // Makes the file longer, first in the backing. Then make_room, if given, makes the new bytes of
  // the view accessible; without it they must be accessible already. Their contents stay, and
  // differ from the medium where they are not zeros. If it returns false or make_room throws, the
  // view keeps its old size.
  [[nodiscard]] bool grow(uint64_t size, const std::function<void()>& make_room = {});

  // ---- for a supervisor -------------------------------------------------------------------------

  // Takes over what a dead process left, on a fresh file_view whose backing was recovered; no other
  // process may use the region. Commits the flushed lines. Then, if `unflushed` is commit, all
  // lines that differ. If it is drop, `dropped` is called with these lines, and the view gets the
  // medium's bytes there. After a halt (VIEW-9) nothing is committed, and all lines that differ are
  // dropped, whatever `unflushed` is.
  enum class unflushed_lines : uint8_t { commit, drop };
  struct writeback_result {
    uint64_t flushed = 0;           // flushed lines in no decided commit set
    uint64_t unflushed = 0;         // other lines that differed
    bool dropped = false;           // these were dropped, perhaps against the request
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
  // Calls fn(line, view's bytes) for lines of loaded pages that differ from the medium. Returns
  // false if the medium's bytes are lost, or if fn does.
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
  // Buffer for load(). Not on the stack, since a program's threads may have little of it.
  std::unique_ptr<line[]> room_ SCUTE_GUARDED_BY(loading_);
};

}  // namespace scute::core::view

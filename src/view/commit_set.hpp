// SPDX-License-Identifier: BSD-3-Clause
// One commit set after the other: which lines it has, their copies, and the set that is committed
// (SHIELD-5, SHIELD-8, and the VIEW rules of file_view.hpp). Whoever makes a commit set holds the
// lock; all memory for it is there beforehand.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/waiting.hpp"
#include "view/audit.hpp"
#include "view/backing.hpp"
#include "view/line.hpp"
#include "view/line_watch.hpp"
#include "view/region.hpp"

namespace scute::core::view {

// Where in the counters of a list something is counted.
enum class counted : uint8_t {
  flushed,
  flushed_twice,
  unchanged,
  fences,
  fences_idle,
  fences_deferred,
  never_flushed,
  synced,
  commit_sets,
  lines,
  rounds,
  gates,
  lists_full,
  damaged,
  masked,
  never_fenced,
  flushed_early
};

class commit_set {
 public:
  // `watch` may be null.
  commit_set(const region& r, std::byte* bytes, backing& medium, page_guard* guard,
             line_watch* watch);
  ~commit_set();
  commit_set(const commit_set&) = delete;
  commit_set& operator=(const commit_set&) = delete;

  waiting_mutex lock;

  // Flushes wait while this is so (VIEW-5).
  bool gate_closed() const noexcept { return gate_.load(std::memory_order_acquire); }

  // Takes all that is flushed, and these lines besides, and commits it. `extra` has room() lines at
  // most.
  bool make(std::span<const uint64_t> extra) noexcept SCUTE_REQUIRES(lock);
  size_t room() const noexcept { return listed_max_; }

  // The line as the medium has it, padded with zeros behind the end of the file. False if it is
  // lost.
  bool old_line(uint64_t line, struct line& to) noexcept SCUTE_REQUIRES(lock);
  // What make() would commit of the line now. False: its page is not there, so nobody has stored to
  // it (VIEW-11).
  bool view_line(uint64_t line, struct line& to) noexcept SCUTE_REQUIRES(lock);

  // A commit has failed, and none has succeeded since (VIEW-10).
  bool is_doubtful() const noexcept { return doubtful_; }

  // What the medium has there from now on.
  void keep_digest(uint64_t line, uint64_t digest) noexcept;

  void count(counted what, uint64_t n = 1, unsigned list = 0) const noexcept;

 private:
  struct slot {  // of the table by line
    uint32_t generation, index;
  };

  bool take_listed() noexcept;
  bool take_marked() noexcept;
  void take(uint64_t line) noexcept;
  bool add(uint64_t line) noexcept;
  bool add(uint64_t line, slot& s) noexcept;
  void copy_one(uint32_t index) noexcept SCUTE_REQUIRES(lock);
  void copy_all() noexcept SCUTE_REQUIRES(lock);
  void copy_by_page() noexcept SCUTE_REQUIRES(lock);
  void copy_fresh() noexcept SCUTE_REQUIRES(lock);
  bool commit() noexcept SCUTE_REQUIRES(lock);
  const std::byte* raw(uint64_t line) noexcept SCUTE_REQUIRES(lock);
  size_t find_changed() noexcept SCUTE_REQUIRES(lock);
  bool add_change(uint32_t index) noexcept SCUTE_REQUIRES(lock);
  uint32_t length_of(uint64_t line) const noexcept;
  void finish(bool decided) noexcept;
  uint64_t find(uint64_t line) const noexcept;

  const region& region_;
  std::byte* bytes_;
  backing& medium_;
  page_guard* guard_;
  line_watch* watch_;
  std::atomic<bool> gate_ = false;

  // Of the commit set under way. Mapped, not allocated, so that what is not used is not there.
  size_t lines_max_, listed_max_, table_mask_;
  uint64_t mapped_;
  std::byte* memory_;
  line* copies_;
  uint64_t* lines_;    // by index
  bool* stale_;        // by index: in fresh_
  bool* untouched_;    // by index: its page was not there when it was copied
  uint32_t* fresh_;    // indices that are to be copied
  uint64_t* order_;    // those that change, with their indices, by line
  uint64_t* digests_;  // of what is copied, by index
  change* changes_;
  line *old_, *new_;  // by change: so what touches in the file touches here
  slot* table_;
  size_t count_ = 0, fresh_count_ = 0, change_count_ = 0, most_ = 0;
  uint32_t generation_ = 0;
  bool doubtful_ = false;  // VIEW-10
  // Where the backing has shown some of its bytes to lie, since this commit set began.
  uint64_t seen_at_ = 0;
  std::span<const std::byte> seen_;
};

}  // namespace scute::core::view

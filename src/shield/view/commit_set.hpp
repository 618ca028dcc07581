// SPDX-License-Identifier: BSD-3-Clause
// Makes commit sets, one after the other: chooses the lines, copies them, and commits the set
// (SHIELD-5, SHIELD-8, and the VIEW rules of file_view.hpp). The thread that makes a commit set
// holds the lock. All memory for it is reserved beforehand.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/locks/waiting.hpp"
#include "shield/view/audit.hpp"
#include "shield/view/backing.hpp"
#include "shield/view/line.hpp"
#include "shield/view/line_watch.hpp"
#include "shield/view/region.hpp"

namespace scute::core::view {

// The index of each counter in the counters of a list.
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

  // Flushes wait while this returns true (VIEW-5).
  bool gate_closed() const noexcept { return gate_.load(std::memory_order_acquire); }

  // Takes all flushed lines and those of `extra`, and commits them. `extra` has at most room()
  // lines.
  bool make(std::span<const uint64_t> extra) noexcept SCUTE_REQUIRES(lock);
  size_t room() const noexcept { return listed_max_; }

  // The line as the medium has it, padded with zeros after the end of the file. Returns false if it
  // is lost.
  bool old_line(uint64_t line, struct line& to) noexcept SCUTE_REQUIRES(lock);
  // The bytes that make() would commit for the line now. Returns false if its page is absent, so no
  // thread has stored to it (VIEW-11).
  bool view_line(uint64_t line, struct line& to) noexcept SCUTE_REQUIRES(lock);

  // True if a commit has failed and none has succeeded since (VIEW-10).
  bool is_doubtful() const noexcept { return doubtful_; }

  // Keeps the digest of the line's bytes on the medium.
  void keep_digest(uint64_t line, uint64_t digest) noexcept;

  void count(counted what, uint64_t n = 1, unsigned list = 0) const noexcept;

 private:
  struct slot {  // an entry of the table by line
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

  // State of the commit set under way. The memory is mapped, not allocated, so that unused parts
  // take no pages.
  size_t lines_max_, listed_max_, table_mask_;
  uint64_t mapped_;
  std::byte* memory_;
  line* copies_;
  uint64_t* lines_;    // by index
  bool* stale_;        // by index: in fresh_
  bool* untouched_;    // by index: its page was absent when it was copied
  uint32_t* fresh_;    // indices that are to be copied
  uint64_t* order_;    // lines that change, with their indices, in order
  uint64_t* digests_;  // of the copies, by index
  change* changes_;
  line *old_, *new_;  // by change: neighbours in the file are neighbours here
  slot* table_;
  size_t count_ = 0, fresh_count_ = 0, change_count_ = 0, most_ = 0;
  uint32_t generation_ = 0;
  bool doubtful_ = false;  // VIEW-10
  // The bytes that the backing has last exposed through raw() in this commit set.
  uint64_t seen_at_ = 0;
  std::span<const std::byte> seen_;
};

}  // namespace scute::core::view

// SPDX-License-Identifier: BSD-3-Clause
// A shielded file that this process has open: its pool, its view, and the uses of it.
//
// SHIELD-7 Nothing maps the medium at an address that the program knows, and no descriptor of the
//    program bypasses the view.
// GUARD-1 So the program gets only descriptors of the view's bytes, and mappings of them.
// GUARD-2 The pool is open as long as the program has a descriptor or a shared mapping of the file.
//    When the last one goes, all differences are written, the pool is closed, and other processes
//    may open the file.
// GUARD-3 The supervisor has both memory files before the program has anything of the view
//         (WIRE-2).
// GUARD-4 A child of fork() can read what its parent has mapped; its flushes, fences and syncs
//    there are left to its parent. To use the file itself it opens it again, once its parent has
//    closed it.
// GUARD-6 A thread that fences uses a file that it flushed in earlier, and that another thread may
//    close meanwhile. So a close waits for such uses before it takes the view down.
// GUARD-5 These objects are never freed, but reused: a handler that looks one up finds an object.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "scute/shield_run.h"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/stores/live_audit.hpp"
#include "shield/interpose/stores/store_guard.hpp"
#include "shield/interpose/stores/unflushed_lines.hpp"
#include "shield/supervisor/pool_backing.hpp"
#include "shield/supervisor/view_memory.hpp"
#include "shield/view/file_view.hpp"

namespace scute::core::interpose {

struct file_identity {
  uint64_t device = 0, inode = 0;
  bool operator==(const file_identity&) const = default;
};
inline file_identity identity_of(const struct stat& s) noexcept {
  return {s.st_dev, s.st_ino};
}

class guarded_file {
 public:
  // Async-signal-safe.
  static guarded_file* find(const file_identity& id) noexcept;
  // The file whose view has these bytes. Async-signal-safe.
  static guarded_file* find_bytes(const struct stat& s) noexcept;
  static guarded_file* first() noexcept;
  guarded_file* next() const noexcept { return next_; }

  // This and the functions below: in a critical section. The file gets one reference. reads: it is
  // opened for reading, so its user need not be allowed more. Throws failure.
  static guarded_file& open(const std::string& path, const file_identity& id, bool reads);
  // Throws failure if it was opened by a user who may only read it.
  void require_writable() const;
  void enter() noexcept { ++references_; }
  void leave() noexcept;
  // The same, but it takes effect when leave_all() is called.
  void leave_later() noexcept { ++leaving_; }
  static void leave_all() noexcept;
  // Writes and closes, even if threads still use it.
  void close() noexcept;
  static void become_child() noexcept;
  // In a child made in the middle of a flush or a fence: if the child continues it, its parent does
  // not see the child's changes.
  static void leave_regions() noexcept;

  bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
  // While an object lives whose is_open() is true, that opening keeps its view. Async-signal-safe;
  // short.
  class use {
   public:
    use(guarded_file& file, uint32_t number) noexcept;
    ~use();
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    bool is_open() const noexcept { return is_open_; }

   private:
    guarded_file& file_;
    bool is_open_;
  };
  // The number of this opening; no two have the same.
  uint32_t number() const noexcept { return number_.load(std::memory_order_acquire); }
  const std::string& path() const noexcept { return path_; }
  view::file_view& view() noexcept { return *view_; }
  bool is(const file_identity& id) const noexcept { return id == id_; }
  bool is_bytes(const struct stat& s) const noexcept { return identity_of(s) == bytes_id_; }

  // Descriptors may live on in another image (inherited_fds.hpp); otherwise they are close-on-exec.
  bool outlives_images() const noexcept { return held_ && is_in_memory(); }
  // A new open file of the view's bytes, close-on-exec; -1 with errno.
  int open_bytes(int flags) const noexcept;
  uint64_t size() const noexcept { return view_->size(); }
  bool is_in_memory() const noexcept { return memory_->is_in_memory(); }
  // The memory that the view takes, in bytes.
  uint64_t memory() const noexcept;
  uint64_t capacity() const noexcept { return pool_->capacity(); }
  // Pages are loaded on first access (page_in.hpp).
  bool pages_come() const noexcept { return pages_.has_value(); }
  // Stores to it wait while its lines are copied (store_guard.hpp).
  bool stores_wait() const noexcept { return guard_.has_value(); }
  // Watches a mapping in which stores may have to wait, or pages may be loaded on access. False
  // with errno.
  bool watch(uintptr_t at, size_t n) const noexcept;
  [[noreturn]] void cannot_watch() const noexcept;
  // Whether pages may be evicted (page_out.hpp); after keep_pages() none is. The thread that loads
  // pages calls these; next_to_go() is the next candidate.
  bool pages_may_go() const noexcept { return pages_.has_value() && !keeps_pages_.load(); }
  void keep_pages() noexcept { keeps_pages_.store(true); }
  bool let_go(uint64_t page) noexcept;
  uint64_t next_to_go(uint64_t pages) noexcept { return hand_ = (hand_ + 1) % pages; }
  // Loads the absent pages of the range. Throws failure.
  void load(uint64_t offset, uint64_t n);
  touched_pages* pages() noexcept { return pages_ ? &*pages_ : nullptr; }
  // Why the pool has failed.
  std::string why() const { return pool_->why(); }
  // Throws failure.
  void grow(uint64_t size);
  // Reserves room to grow to that size. Throws failure.
  void reserve(uint64_t size);
  // Bytes that write(2) has appended to the view become part of the file. Throws failure.
  void catch_up();
  // Makes sure that nothing written is in the pool's log alone. Throws failure.
  void drain();
  // Writes the range's differences, and what write(2) has appended. Throws failure.
  void write_back(uint64_t offset, uint64_t n, view::write_reason why);

  void count(scute_shield_counts& to) const noexcept;

  // DUR-4: a commit has failed.
  [[noreturn]] void give_up() noexcept;
  unflushed_lines& unflushed() noexcept { return unflushed_; }
  // Null: there is none. Valid as long as the file is open.
  audit::store_audit* audit() noexcept { return audit_.get(); }

 private:
  guarded_file() = default;
  static guarded_file& unused();
  void drop_rest();
  void require_capacity(uint64_t size) const;
  [[noreturn]] void cannot_grow();
  void write_there(uint64_t offset, uint64_t n, view::write_reason why);
  void refuse_unintercepted(uint64_t offset, uint64_t n);
  void wait_for_users() const noexcept;

  std::string path_;
  file_identity id_, bytes_id_;
  std::unique_ptr<supervisor::pool_backing> pool_;
  std::optional<supervisor::view_memory> memory_;
  std::optional<touched_pages> pages_;
  std::optional<store_guard> guard_;
  std::atomic<bool> keeps_pages_{false};
  bool held_ = false;  // by a supervisor
  uint64_t hand_ = 0;
  std::unique_ptr<view::file_view> view_;
  unflushed_lines unflushed_;
  std::unique_ptr<live_audit> audit_;
  std::atomic<uint32_t> number_{0};
  std::atomic<bool> open_{false};
  std::atomic<uint64_t> reserved_{0};  // bytes for which there is room
  std::atomic<unsigned> users_{0};
  unsigned references_ = 0, leaving_ = 0;
  uint64_t dropped_ = 0, dropped_masked_ = 0;
  guarded_file* next_ = nullptr;
};

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The log of engine `spec` in a file next to the pool's, used for pools on disks
// (docs/reference/format.md, "The log file"). There a sync of the pool writes all of its dirty
// pages; a commit syncs only this file.
//
// The superblock of the pool decides: it says that the log is in a file (incompat_log_file). The
// pool's uuid and epoch, and the number of its session, say in which file. The head of the file
// says whose log it is, and its state:
//
//   coming, epoch e+1 --superblock with e+1--> in use, epoch e+1
//   in use, epoch e+1 --superblock says clean--> closed, epoch e+1
//
// The files that a crash leaves at `coming` and at `named` (core/medium/log_paths.hpp), and how the
// next opening treats them:
//   a log is made for a creation, or a switch
//                                    pool as before, whole file at `coming`, not its own; it goes
//   superblock needs it, or the new pool is named
//                                    pool needs it, `coming` fits: it gets the name
//   named                            it fits
//   head coming(e+1), superblock e   all frames of e are present: it fits, unclean or clean
//   head coming(e+1), superblock e+1 the session has appended nothing yet: it fits
//   superblock clean, head in use    it fits; nothing in it is needed
//   superblock with another engine   an older log with the pool's uuid has no owner: it goes
//
// The file grows so: its new length becomes durable, by one sync. Then the other copy of the head
// counts the new chunks, durably by the fence of the first transaction that uses them. The length
// of the file says how many chunks there are, and the head how many there are at least: a file that
// is shorter was cut by another program. A crash leaves:
//   length as before     no fence had passed since: no acknowledged transaction has a frame there
//   longer, head before  the same, or the head that counts them is damaged; the frames there are
//                        whole, torn or none, as in every segment, or of an earlier growth. These
//                        are void by the truncation point, else the chunks had not been taken off
//   both                 the frames may be acknowledged
//   head shorter, file   nothing in these chunks was needed when they were taken off
//     cut or not yet
//   closed, not yet cut  nothing in the log is needed; the next opening cuts it
// A library that goes by the count of one head alone could miss frames. So the head of a session
// has version 2, which such a library refuses; a closed log has version 1.
//
// LOGFILE-1 A log is whole and durable, with its folder, before a superblock that needs it is. A
//    superblock that does not need it is durable before the log is removed.
// LOGFILE-2 An unclean pool continues with the log of its uuid that fits its epoch, and with no
//    other. If that is missing, foreign, older, newer or cut short (LOGFILE-6), the opening is
//    refused with nothing changed, unless the caller gives the log up (SCUTE_WITHOUT_LOG). A clean
//    pool needs nothing of a log; one that does not fit is made again.
// LOGFILE-3 The head names the next epoch, durably, before the superblock does, and says `in use`
//    before anything is appended. Its two copies lie on different pages. Each is durable before the
//    other one is written, and the one that counts is written last.
// LOGFILE-4 Acknowledged bytes are durable in this file, and bytes that are void here are durable
//    in the pool: a sync of one file says nothing about the other. A sync that fails in either ends
//    the session.
// LOGFILE-5 The bytes that recovery rests on are stored in this file again, and synced, before the
//    pool changes: a page of it may be only in the page cache, from a dead process. A page that
//    cannot be read is written as a whole first (file_pages.hpp).
// LOGFILE-6 The chunks of the log are those that lie whole within its file, and a head never counts
//    more of them than are durable. The fence that acknowledges a frame in a chunk makes a head
//    that counts it durable. The file grows by zeros, with blocks for them.
// LOGFILE-7 No file is removed, or replaced, because of its name (OURS-1). A call that needs a name
//    reads the file that has it. A file that a pool or program may need, or that is no log, is set
//    aside, or the call is refused. A call that needs no name leaves a file that is no log alone.
// LOGFILE-8 Two copies of a pool have the same uuid, and epochs that count alike. So where both
//    record the number of their session (SESSION-1), the head has the superblock's number. A head
//    that is coming with the next epoch has it as the number before.
// LOGFILE-9 Before a clean pool becomes unclean, its log says durably that all frames in it are
//    void (TRUNC-2). Otherwise a crash would leave a pool whose recovery rests on an older copy of
//    its log.
// LOGFILE-10 The file is cut when both heads durably count fewer chunks than it has: by the
//    session, when all chunks after these are void; by an opening, only if the pool was closed
//    properly.
//
// On LOGFILE-2: a file that may belong to another program is set aside, not replaced. So is a log
// of the pool's uuid that was not closed: a newer copy of the pool, whose writer was killed and
// which lies elsewhere, may need it. (At `coming` no pool needs a log to which nothing was
// appended.) If the superblock needs no log, and is newer than the log, a switch has left that log
// over.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/engine/speculative/log_file/log_location.hpp"

namespace scute::core::engine {

class log_in_file final : public log_location {
 public:
  // A new log for the pool's session of this epoch, at `coming`; durable (LOGFILE-1). cap: as in
  // plan_log(). Throws SCUTE_E_NOSPC, SCUTE_E_EXISTS if a file at `named` may belong to another
  // pool or program (LOGFILE-7); then nothing is made.
  static void make(pool::state& s, uint64_t cap, uint64_t epoch);
  // Names the log that was made, if the superblock, which is durable, needs it. If a pool has
  // replaced another one and needs no log, removes the other one's, or sets it aside if a newer
  // library has written it.
  static void name(pool::state& s);
  // For a pool that is not open and is to be replaced. Its log may only have the name `coming` yet,
  // which the new pool's log needs.
  static void name_unopened(medium::log_paths& paths, const format::superblock& sb);
  // For a pool that is going to be removed, and has nothing in its log: removes the log, unless a
  // newer library has written it. Throws the failure of that.
  static void remove_unopened(medium::log_paths& paths, const format::superblock& sb);
  // The superblock, which is durable, needs no log in a file: removes one that the pool had, or
  // sets it aside if a pool may need it (LOGFILE-2).
  static void remove_stale(pool::state& s) noexcept;

  // The log that fits (LOGFILE-2), with its name. If none fits: an unclean pool is refused; a clean
  // one that is only read has none; for another clean one it is made again.
  static std::unique_ptr<log_in_file> find(pool::state& s, bool clean);
  // For an unclean pool that is opened without its log. Returns false if no log fits; a file that
  // was there is set aside. Throws as find() does, except for that reason.
  static bool give_up(pool::state& s);
  // The log of a pool that is only read, for callers that ask how full it is. Null: none fits.
  static std::unique_ptr<log_in_file> seen(pool::state& s);
  // The log that make() has made, which may not have its name yet.
  static std::unique_ptr<log_in_file> made(pool::state& s);

  // LOGFILE-3: announce() before the superblock names that epoch, begin() after it, end() after the
  // superblock says that the pool is clean.
  void announce(uint64_t epoch);
  void begin(uint64_t epoch) { write_head(epoch, format::log_file_state::in_use); }
  void end() { write_head(head_.epoch, format::log_file_state::closed); }

  medium::medium& target() const noexcept override { return *file_; }
  bool is_apart() const noexcept override { return true; }
  size_t chunks_at_ease() const noexcept override {
    return std::min(size_t{4} * head_.kept, chunks_max());
  }
  bool was_closed() const noexcept override { return was_closed_; }
  uint64_t truncation_at(uint64_t which, uint32_t copy) const noexcept override {
    return format::log_file_truncation_offset + copy * format::page + which * 64;
  }
  uint32_t truncation_copies() const noexcept override { return 2; }
  segment_list read() const override;
  void write(medium::writer& w, segment_list& list) override;
  void keep(medium::writer& w, const segment_list& list) override;
  std::vector<list_copy> list_copies(const segment_list& list) override;
  size_t chunks_max() const noexcept override { return head_.kept + (size_t{1} << 13); }
  std::vector<uint64_t> lend(pool::lane& l, const segment_list& list, size_t chunks) override;
  void retain(const segment_list&) override {}
  void take_back(pool::lane& l, std::vector<uint64_t>& chunks) override;

  // Bytes of the file. Any thread, also while it grows.
  uint64_t length() const noexcept { return length_.load(std::memory_order_relaxed); }
  // Bytes of the file that the pool's superblock means; 0 if there is none.
  static uint64_t file_size(const pool::state& s) noexcept;

 private:
  // needed: the pool was not closed properly.
  enum class frames : bool { void_, needed };
  log_in_file(pool::state& s, std::unique_ptr<medium::medium> file,
              const format::log_file_head& head, frames are) noexcept;

  static std::unique_ptr<log_in_file> recreate(pool::state& s);
  uint64_t chunk_at(uint64_t i) const noexcept {
    return format::log_file_chunks_offset + i * head_.chunk_size;
  }
  uint64_t whole_chunks() const noexcept;
  void renew_first_pages();
  void stream_copy(int copy);
  void make_head_durable();
  void write_next_head();
  void write_head(uint64_t epoch, format::log_file_state state);
  void fence();

  pool::state& s_;
  std::unique_ptr<medium::medium> file_;
  std::atomic<uint64_t> length_;
  waiting_mutex mutex_;  // of a thread that writes a head
  medium::writer w_;
  format::log_file_head head_;       // the next one
  format::log_file_head copies_[2];  // as they were found, or streamed
  int counts_ = 0;                   // which of them counts
  const bool was_closed_;
  bool durable_ = false;  // the one that counts, as far as is known
  bool written_ = false;  // by this session
};

}  // namespace scute::core::engine

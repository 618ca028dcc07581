// SPDX-License-Identifier: BSD-3-Clause
// The state that all parts of a store share.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "base/process/process.hpp"
#include "core/medium/medium.hpp"
#include "pow/file/file_head.hpp"
#include "pow/file/space.hpp"
#include "pow/sections/lane.hpp"
#include "pow/sections/lock_table.hpp"
#include "pow/sections/section_memory.hpp"
#include "pow/table.hpp"

namespace scute::core::pow {

class section;

// After so many victims in a row without another free segment, others will not give one either.
inline constexpr unsigned cleaned_in_vain_max = 8;
// The same before the file grows (POW-17). At the largest max_live_share there is, one victim in
// ten gives a segment.
inline constexpr unsigned cleaned_before_growth_max = 16;
// Segments that are open, or nearly so: they are no reason to clean.
inline constexpr uint64_t segments_in_hand = 4;

inline constexpr uint32_t cleaner_lane = 0, stream_lane = 1;

// A thread's place at a store: one section at a time. Another thread may take a place that is not
// busy.
struct thread_slot {
  std::atomic<bool> busy{false};
  std::atomic<uint64_t> thread{
      0};  // its last thread; written while busy, read by threads that search for a slot
  std::atomic<pid_t> task{0};  // the system's number of that thread, likewise
  uint32_t number = 0;         // from 1; owner of entries, and lane where each thread has one
  bool is_ready = false;       // its lane and its writer exist; accessed while busy
  section* open = nullptr;
  std::unique_ptr<medium::writer> own;  // where all threads have one lane
  dependencies seen;                    // undurable batches that the thread has written or seen
  section_memory memory;                // of the section that is open
};

struct limits {
  uint64_t max_size = 0;
  uint64_t max_memory = 0;      // 0: none
  uint64_t growth = 8;          // segments at a time
  double max_live_share = 0.5;  // the cleaner runs while less than that of the used bytes counts
  bool bounded = false;         // a thread that needs the file to grow cleans first (POW-17)
  bool one_stream = false;
  bool watch_locks = false;  // notices a section that gives a lock of its own away
};

struct statistics {
  std::atomic<uint64_t> cleaned_segments{0}, copied_bytes{0}, syncs{0}, growths{0},
      sealed_groups{0};
  // Of the cleaner in the background; those in which it looked at all segments.
  std::atomic<uint64_t> rounds{0}, rounds_at_work{0};
};

class state {
 public:
  state(std::unique_ptr<medium::medium> m, std::string file, const limits& l);

  std::unique_ptr<medium::medium> medium;
  std::string name;
  const uint64_t process = this_process();  // that opened it
  limits limit;
  log::segment_layout layout{log::redundancy::one_copy, 4096};  // of a segment
  std::unique_ptr<class space> space;
  statistics count;

  log::identity identity(uint32_t lane) const noexcept { return {salt, head.session, lane}; }
  // In a file opened for reading: reads from here on fail, since the file has lost its end.
  uint64_t file_end = UINT64_MAX;

  // False if it cannot be read.
  bool read_segment(uint64_t offset, std::byte* to, size_t n) const noexcept;

  // The same bytes in the mapping; null: they have to be copied, since a device may refuse them.
  // Valid until a thread writes there.
  const std::byte* view_segment(uint64_t offset, size_t n) const noexcept;

  // Reads a record that recovery has found and no thread has moved since. Throws
  // failure(SCUTE_E_CORRUPT) if it cannot be read.
  void read_record(const location& where, std::byte* to, uint64_t n) const;

  // Nothing is written to the file, not even by recovery. Segments with a wrong copy are kept here,
  // with the right bytes.
  const bool read_only;
  std::map<uint32_t, std::vector<std::byte>> repaired;

  // ---- head: for threads that open, grow and close the file ----
  file_head head{};
  uint64_t salt = 0;
  waiting_mutex head_lock;
  // Makes sure that there are more than `seen` segments: others have made them meanwhile, or this
  // call does. Returns false if that is not allowed, or the file system refuses (an errno). w: the
  // caller's.
  bool grow(medium::writer& w, uint64_t seen, int& refusal) SCUTE_EXCLUDES(head_lock);
  // Ends the file after the last segment in use, and some that are free. w: the caller's.
  void shrink(medium::writer& w) SCUTE_EXCLUDES(head_lock);

  // POW-23. first_tag(): the tag with which an index without records begins. remembers(): whether
  // an erased object needs its tombstone for its tag.
  uint32_t first_tag() const noexcept { return tags_.load(std::memory_order_relaxed) + 1; }
  bool remembers(const table& t, uint32_t tag) const noexcept {
    return t.keeps_tags() && tag >= first_tag();
  }
  void set_tags(uint32_t tags) noexcept { tags_.store(tags, std::memory_order_relaxed); }
  // The same, durably. w: the caller's. Throws failure(SCUTE_E_IO).
  void raise_tags(medium::writer& w, uint32_t tags) SCUTE_EXCLUDES(head_lock);

  // A bound: indexes are dense, so none can be larger. A larger id is no object of a file of at
  // most this size, and would take memory accordingly.
  uint64_t index_max() const noexcept {
    return (space->most() * head.segment_size + first_segment) / sizeof(record_head);
  }

  // ---- lanes and slots ----
  lane& lane_at(uint32_t number) {  // makes it
    lane* const there = find_lane(number);
    return there != nullptr ? *there : make_lane(number);
  }
  lane* find_lane(uint32_t number) const noexcept {
    return lanes_[number].load(std::memory_order_acquire);
  }
  // Takes this thread's slot, now busy, with its lane and its writer, so that no later step towards
  // durability fails for lack of memory. Waits if all are busy. Throws failure(SCUTE_E_READONLY).
  thread_slot& take_slot();
  // This is the thread's last access: another one may close the store as soon as no slot is busy.
  void leave_slot(thread_slot& s) noexcept SCUTE_EXCLUDES(slots_lock_) {
    if (slots_wanted_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return leave_wanted_slot(s);
    s.busy.store(false, std::memory_order_release);
  }
  // Whether some thread has a section open, or the cleaner has an idle thread's slot for the time
  // of a fence. If not, and no thread begins a section, none is in leave_slot() either.
  bool is_in_use() noexcept SCUTE_EXCLUDES(slots_lock_);
  lane& lane_of(const thread_slot& s) { return lane_at(limit.one_stream ? stream_lane : s.number); }
  waiting_mutex stream_lock;  // where all threads have one lane
  // The writer with which the thread in the slot writes back and fences.
  medium::writer& writer_of(thread_slot& s);

  // Makes segments full that threads have open but are not appending to, so that they can be
  // cleaned. orphans: only those of ended threads. Returns false if there is none.
  enum class idle : uint8_t { any, orphans };
  bool end_idle_segments(idle which);
  // The number of sections that have written something, over all threads.
  uint64_t batches() const noexcept;
  // While it lives no section is open, and a thread that begins one waits. The constructor waits
  // for open sections, but not for ever: one of them may wait for a lock that the caller holds.
  // Throws failure: SCUTE_E_BUSY.
  class pause {
   public:
    explicit pause(state& s);
    ~pause();
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

   private:
    pause(state& s, uint32_t taken) noexcept : s_(s), taken_(taken) {}
    state& s_;
    uint32_t taken_ = 1;  // slots below it
  };
  // Whether the share of used bytes that count is below its limit.
  bool worth_cleaning() const noexcept;
  // POW-17: whether a thread that needs a segment of this kind cleans before the file grows.
  // in_vain: victims in a row that gained nothing.
  bool cleans_first(need kept, unsigned in_vain) const noexcept;
  // Makes sure that a frame of so many bytes fits, with another segment if need be. Throws
  // failure(SCUTE_E_NOSPC).
  void make_room(lane& l, uint64_t bytes, need kept, bool spanned, log::stores how);

  // Makes everything finished durable. w: a writer of the calling thread. Throws
  // failure(SCUTE_E_IO).
  void sync(medium::writer& w);
  // The same for a thread that has no section open. It waits for no slot: all of them may have
  // sections that wait for locks of this thread.
  void sync_outside();
  // Throws if an earlier step could not make bytes durable: nothing is written any more.
  void refuse_if_failed() const;
  std::atomic<bool> names{false};  // some section was released before it was durable
  lock_table locks;

  // ---- tables ----
  table& table_at(uint32_t number);  // of a number that exists; throws
  table* find_table(uint32_t number) const noexcept;
  table& add_table(uint32_t number);  // makes it if need be
  // Bytes of objects and of their entries.
  uint64_t memory() const noexcept;
  static constexpr uint64_t per_object = sizeof(entry);

  // ---- the cleaner: one at a time ----
  waiting_mutex clean_lock;
  bool marks = false;  // some batch counts only as the latest mark says; with clean_lock
  // Takes one segment, unless `enough` are free when it is this thread's turn. Returns 0: there is
  // none; 1: one was taken; 2: and there is more room now. The code that assembles the store sets
  // it.
  int (*clean_one)(state&, need kept, uint64_t enough) = nullptr;
  class cleaner* cleans = nullptr;
  class seals* groups = nullptr;  // protection `sealed`

  // Makes a segment's head say that it is unused. Durable at w's next fence.
  void store_void_head(medium::writer& w, uint32_t s) const noexcept;

 private:
  std::atomic<uint32_t> tags_{0};  // as the head says
  lane& make_lane(uint32_t number);
  thread_slot& find_slot();
  void leave_wanted_slot(thread_slot& s) noexcept SCUTE_EXCLUDES(slots_lock_);
  thread_slot* own_slot() noexcept;
  thread_slot* own_slot_elsewhere(uint64_t me) noexcept;
  thread_slot& wait_for_slot();
  thread_slot* other_slot();
  thread_slot& occupy(uint32_t i);

  struct search;
  bool owes(const search& r) const;
  bool has_room(const search& r) const;
  uint64_t enough_free(const search& r) const;
  bool take_segment(search& r);
  bool clean_before_growth(search& r);
  bool clean_at_last(search& r);
  [[noreturn]] void refuse_growth(const search& r) const;

  std::array<std::atomic<lane*>, lanes_max> lanes_{};
  std::array<std::unique_ptr<lane>, lanes_max> lane_owners_;
  std::array<thread_slot, lanes_max> slots_;
  std::atomic<uint32_t> slots_wanted_{0};  // threads that wait for one
  std::atomic<uint32_t> pauses_{0};        // no further section begins meanwhile
  plain_mutex slots_lock_;
  condition slot_left_;
  std::array<std::atomic<table*>, tables_max> tables_{};
  std::map<uint32_t, std::unique_ptr<table>> table_owners_ SCUTE_GUARDED_BY(tables_lock_);
  plain_mutex lanes_lock_, tables_lock_;
};

// The calling thread takes the slot of this number wherever it begins a section; 0: any. For the
// explorer, whose threads must be the same ones every time.
void prefer_slot(uint32_t number) noexcept;
void_head make_void_head(uint64_t salt) noexcept;

}  // namespace scute::core::pow

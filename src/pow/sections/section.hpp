// SPDX-License-Identifier: BSD-3-Clause
// The changes of a thread between taking its locks and releasing them, and how they become durable.
//
// Objects stay where the program has them, and are changed there. A section records which, and
// writes each once, as it is at the commit (eager: when the program says that it is done with it).
// If it aborts, it calls the undo that the caller has registered for its changes in memory
// (POW-10).
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_buffer.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

enum class durability : uint8_t { strict, later };

class section {
 public:
  // Begins the outermost section of this thread at this store.
  section(state& s, durability how) : section(s, s.take_slot(), how) {}
  // The same for a caller that keeps only a handle. The object is destroyed when the section has
  // ended.
  static section& begin(state& s, durability how);
  // Aborts what was not committed.
  ~section();
  section(const section&) = delete;
  section& operator=(const section&) = delete;

  // The section that this thread has open there; null: none.
  static section* of_thread(const state& s) noexcept;
  static bool is_of_thread(const section* s) noexcept;
  state& parts() const noexcept { return s_; }

  // A lock that the caller has taken for the section. When the section has ended, unlock(lock)
  // releases it in any case. shared: others may hold it at the same time. Throws
  // failure(SCUTE_E_CONFLICT) if locks are watched and another open section has it: then that
  // section has waited on a condition variable, and its commit will fail. The caller still owns the
  // lock.
  void add_lock(void* lock, void (*unlock)(void*), bool shared = false);
  // Sections nest flat: only the outermost one ends anything.
  void enter() noexcept { ++depth_; }
  // Ends the innermost one. If it throws failure, everything is aborted: SCUTE_E_ABORTED (an inner
  // one was aborted), SCUTE_E_NOSPC, SCUTE_E_NOMEM; or exceptions of the serializers. SCUTE_E_IO:
  // it is unknown what is durable.
  void commit();
  void abort() noexcept;
  // Undoes everything now, like an abort, since a table that the section has changed is being
  // detached. The section ends later, and can only abort.
  void give_up() noexcept;
  bool changes(const table& t) const noexcept;
  bool is_open() const noexcept { return depth_ != 0; }
  thread_slot& where() const noexcept { return slot_; }
  uint32_t depth() const noexcept { return depth_; }

  // The object will be changed. Returns true the first time in this section: then the caller saves
  // what its undo needs. Throws failure: SCUTE_E_FREED (there is none, or the tag differs),
  // SCUTE_E_CONFLICT (another section has it open).
  bool edit(table& t, uint64_t index, uint32_t tag);
  static constexpr uint32_t any_tag = 0xffffffffU;
  // Gets an unused index for insert(), if the serializer does not choose.
  uint64_t take_index(table& t);
  // Creates an object at an unused index and returns its tag.
  uint32_t insert(table& t, uint64_t index);
  void erase(table& t, uint64_t index, uint32_t tag);
  // Cancels the last of these three calls, which has had no effect yet, since its undo could not be
  // kept. Throws failure(SCUTE_E_INVALID) if it was about another object.
  void take_back(table& t, uint64_t index);
  using action = section_action;
  void add_action(const action& a) { actions_.push_back(a); }
  // If the section aborts it calls `back` with the next argument, and with a copy of these n bytes
  // that lives as long as the section.
  void add_undo(void (*back)(void* who, void* what), void* who, const void* bytes, size_t n);

  // Writes the objects edited so far while the section is running (eager). An object that is edited
  // again is written again.
  void stream();

 private:
  using item = section_item;

  section(state& s, thread_slot& where, durability how) noexcept;
  entry& own(table& t, uint64_t index, uint32_t tag, uint32_t mark, uint32_t& was);
  void add_item(table& t, uint64_t index, entry& e, bool erases);
  void collect_dependencies();
  log::stores how() const noexcept;
  need kept() const noexcept { return erases_only_ ? need::erasing : need::ordinary; }
  void write(lane& l);
  void write_whole(lane& l);
  void begin_naming(lane& l) noexcept;
  void write_parts(lane& l);
  void write_trailer(lane& l, frame_kind kind);
  void put_record(item& i);
  uint32_t put_dependencies();
  static bool skipped(const item& i) noexcept;
  uint64_t measure(item& i);
  uint64_t trailer_bytes() const noexcept;
  uint64_t version_of(lane& l, size_t from, size_t to) const noexcept;
  void make_durable(lane& l);
  void publish(lane& l) noexcept;
  void give_index(const lane& l, const item& i) noexcept;
  int64_t publish(item& i, bool ends) noexcept;
  void end() noexcept;
  void leave_thread() noexcept;
  void leave_dependencies() noexcept;
  void make_seen_durable() noexcept;
  void give_locks_back() noexcept;
  void roll_back() noexcept;
  void abandon_parts() noexcept;

  state& s_;
  thread_slot& slot_;
  durability mode_;
  uint32_t depth_ = 1;
  bool aborted_ = false, erases_only_ = true, wrote_ = false;
  std::atomic<bool> gave_away_{false};  // a lock, while it was open
  int64_t memory_ = 0;
  section* outer_ = nullptr;  // the one that this thread has begun before, at another store
  std::vector<held_lock>& locks_;
  std::vector<item>& items_;
  size_t streamed_ = 0;  // items that are in parts already
  uint32_t parts_ = 0;
  std::vector<action>& actions_;
  dependencies& rest_on_;
  uint64_t number_ = 0;  // of the batch, once it is written
  byte_buffer& image_;
};

}  // namespace scute::core::pow

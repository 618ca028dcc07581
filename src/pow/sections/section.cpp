// SPDX-License-Identifier: BSD-3-Clause
#include "pow/sections/section.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "pow/sections/thread_part.hpp"

namespace scute::core::pow {
namespace {

section* newest_of_thread() noexcept {
  thread_block* const mine = this_thread_block;
  return mine != nullptr ? part_of_thread<thread_part>(mine->pow).newest : nullptr;
}

[[noreturn]] void refuse(scute_error code, const table& t, uint64_t index, const char* what) {
  throw failure(code, "object " + std::to_string(index) + " of table " + t.name + " " + what);
}

}  // namespace

section::section(state& s, thread_slot& where, durability how) noexcept
    : s_(s),
      slot_(where),
      mode_(how),
      outer_(part_of_slot_owner().newest),
      locks_(where.memory.locks),
      items_(where.memory.items),
      actions_(where.memory.actions),
      rest_on_(where.memory.rest_on),
      image_(where.memory.image) {
  part_of_slot_owner().newest = this;
  slot_.open = this;
  if (how == durability::later && !s.names.load(std::memory_order_relaxed))
    s.names.store(true, std::memory_order_relaxed);
}

section& section::begin(state& s, durability how) {
  static_assert(alignof(section) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  thread_slot& where = s.take_slot();
  auto& place = where.memory.place;
  try {
    if (place == nullptr) place.reset(new std::byte[sizeof(section)]);
  } catch (...) {
    s.leave_slot(where);
    throw;
  }
  return *new (place.get()) section(s, where, how);
}

section::~section() {
  if (is_open()) {
    depth_ = 1;
    abort();
  }
}

section* section::of_thread(const state& s) noexcept {
  for (section* o = newest_of_thread(); o != nullptr; o = o->outer_)
    if (&o->s_ == &s) return o;
  return nullptr;
}

bool section::is_of_thread(const section* s) noexcept {
  const section* o = newest_of_thread();
  while (o != nullptr && o != s) o = o->outer_;
  return o != nullptr;
}

void section::leave_thread() noexcept {
  section** at = &part_of_slot_owner().newest;
  while (*at != this) at = &(*at)->outer_;
  *at = outer_;
}

void section::add_lock(void* lock, void (*unlock)(void*), bool shared) {
  locks_.push_back({lock, unlock, shared});
  if (!s_.limit.watch_locks || shared) return;
  const auto give_away = [](void* other) { static_cast<section*>(other)->gave_away_.store(true); };
  bool mine = false;
  try {
    mine = s_.locks.add_holder(lock, this, give_away);
  } catch (...) {
    locks_.pop_back();
    throw;
  }
  if (mine) return;
  locks_.pop_back();
  throw failure(SCUTE_E_CONFLICT, "another section of " + s_.name +
                                      " holds this lock and has waited on a condition variable, so "
                                      "its changes are not committed");
}

log::stores section::how() const noexcept {
  return mode_ == durability::later || s_.limit.one_stream ? log::stores::cached
                                                           : log::stores::streamed;
}

// ---- what is changed ----------------------------------------------------------------------------

// Makes this section the owner of the entry, with this mark. was: its state before.
entry& section::own(table& t, uint64_t index, uint32_t tag, uint32_t mark, uint32_t& was) {
  s_.refuse_if_failed();
  entry* const e = t.find(index);
  const uint32_t mine = slot_.number << owner_shift;
  was = e == nullptr ? 0 : e->state.load(std::memory_order_relaxed);
  for (;;) {
    if (e == nullptr || (was & entry_live) == 0 || (was & entry_erased) != 0 ||
        (tag != any_tag && tag_of(was) != tag))
      refuse(SCUTE_E_FREED, t, index, "does not exist; it was erased, or never made");
    const uint32_t owner = was & owner_mask;
    if (owner == mine && (was & mark) != 0) return *e;
    if (owner != 0 && owner != mine)
      refuse(SCUTE_E_CONFLICT, t, index,
             "is edited in another section at this moment; sections that edit one object need a "
             "lock in common");
    if (e->state.compare_exchange_weak(was, (was & ~owner_mask) | mine | mark,
                                       std::memory_order_acquire))
      return *e;
  }
}

void section::add_item(table& t, uint64_t index, entry& e, bool erases) {
  items_.push_back({&t, index, &e, 0, nowhere, 0, erases});
  if (!erases) erases_only_ = false;
}

bool section::edit(table& t, uint64_t index, uint32_t tag) {
  items_.reserve(items_.size() + 1 > items_.capacity() ? items_.size() * 2 + 4 : 0);
  uint32_t was = 0;
  entry& e = own(t, index, tag, entry_queued, was);
  if ((was & entry_queued) == 0) add_item(t, index, e, false);
  return owner_of(was) != slot_.number;
}

void section::add_undo(void (*back)(void*, void*), void* who, const void* bytes, size_t n) {
  void* const copy = slot_.memory.saved.take(n);
  std::memcpy(copy, bytes, n);
  actions_.push_back({back, nullptr, who, copy});
}

uint32_t section::insert(table& t, uint64_t index) {
  s_.refuse_if_failed();
  if (index >= s_.index_max())
    refuse(SCUTE_E_RANGE, t, index,
           "has an index that this store has no room for; indexes are dense, so use lower ones, or "
           "open it with a larger max_size");
  items_.reserve(items_.size() + 1 > items_.capacity() ? items_.size() * 2 + 4 : 0);
  entry& e = t.at(index);
  const uint32_t mine = slot_.number << owner_shift;
  uint32_t was = e.state.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t owner = was & owner_mask;
    if (owner != 0 && owner != mine)
      refuse(SCUTE_E_CONFLICT, t, index, "is edited in another section at this moment");
    if ((was & entry_live) != 0 && (was & entry_erased) == 0)
      refuse(SCUTE_E_EXISTS, t, index, "exists already");
    // Erased and made again in one section: one object that changes.
    const uint32_t fresh = (was & entry_erased) != 0 ? (was & entry_fresh) : uint32_t{entry_fresh};
    // POW-23. A used-up index is not taken.
    const uint32_t tag = !t.keeps_tags()    ? tag_of_none
                         : tag_of(was) == 0 ? s_.first_tag()
                                            : (tag_of(was) + 1) & tag_max;
    const uint32_t now = (was & (entry_locked | entry_streamed)) | entry_queued | entry_live |
                         fresh | mine | tag << tag_shift;
    if (!e.state.compare_exchange_weak(was, now, std::memory_order_acquire)) continue;
    if ((was & entry_queued) == 0) add_item(t, index, e, false);
    return tag_of(now);
  }
}

void section::erase(table& t, uint64_t index, uint32_t tag) {
  items_.reserve(items_.size() + 1 > items_.capacity() ? items_.size() * 2 + 4 : 0);
  uint32_t was = 0;
  entry& e = own(t, index, tag, entry_erased, was);
  add_item(t, index, e, true);
}

// POW-14.
uint64_t section::take_index(table& t) {
  const auto is_durable = [this](uint32_t lane_number, uint64_t number) {
    return s_.find_lane(lane_number)->durable() >= number;
  };
  for (bool last = false;;) {
    const uint64_t i = t.take_index(is_durable, s_.index_max());
    if (i == table::no_index) {
      if (last) return s_.index_max();  // which insert() refuses
      last = true;
      s_.sync(s_.writer_of(slot_));
    } else if (!t.is_used_up(i)) {
      return i;
    }
  }
}

void section::take_back(table& t, uint64_t index) {
  if (items_.size() == streamed_ || items_.back().t != &t || items_.back().index != index)
    throw failure(SCUTE_E_INVALID,
                  "object " + std::to_string(index) + " of table " + t.name +
                      " is not the one that this section has made, edited or erased last");
  const item i = items_.back();
  const uint32_t now = i.e->state.load(std::memory_order_relaxed);
  uint32_t drop = i.erases ? entry_erased : entry_queued;
  const bool made = !i.erases && (now & entry_fresh) != 0;
  if (made) drop |= entry_fresh | entry_live;
  // If nothing else of this section is in the entry, it loses its owner.
  if ((now & entry_section & ~drop) == 0) drop |= owner_mask;
  items_.pop_back();
  i.e->state.fetch_and(~drop, std::memory_order_release);
  if (made && !t.chooses) t.give_index(index);
  erases_only_ = std::ranges::all_of(items_, [](const item& x) { return x.erases; });
}

// Collects the batches that this section has seen and that may not be durable.
void section::collect_dependencies() {
  rest_on_.clear();
  if (!s_.limit.one_stream && !s_.names.load(std::memory_order_relaxed)) return;
  for (const held_lock& h : locks_) s_.locks.collect(h.lock, rest_on_);
  rest_on_.add(slot_.seen);
  rest_on_.leave([&](uint32_t lane_number, uint64_t number) {
    const lane* const there = s_.find_lane(lane_number);
    return there != nullptr && there->durable() < number;
  });
}

// POW-2.
void section::make_durable(lane& l) {
  number_ = l.next_number();
  if (how() == log::stores::streamed) {
    l.w.fence(fence_site::pow_commit);
    s_.refuse_if_failed();
    l.finish();
    l.confirm();
  } else {
    l.finish();
  }
  l.batches.store(l.batches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Returns the number of bytes that the record adds to its segment's live bytes. ends: nothing else
// of this section is in the entry, which loses its owner.
int64_t section::publish(item& i, bool ends) noexcept {
  entry& e = *i.e;
  entry_guard guard(e);
  const uint64_t whole = round_record(i.size);
  auto added = static_cast<int64_t>(whole);
  const uint32_t now = e.state.load(std::memory_order_relaxed);
  const bool was_there = (now & entry_fresh) == 0;
  if (e.is_written()) {
    const auto before = static_cast<int64_t>(round_record(e.bytes()));
    if (e.segment == i.segment)
      added -= before;
    else if (e.segment != nowhere)
      s_.space->note(e.segment).live.fetch_sub(before, std::memory_order_relaxed);
  }
  memory_ += int64_t{i.size} - static_cast<int64_t>(was_there ? e.bytes() : 0);
  if (!was_there) memory_ += state::per_object;
  if (i.erases && !e.is_tombstone()) memory_ -= state::per_object;
  e.version.store(i.version, std::memory_order_relaxed);
  e.segment = i.segment;
  e.size = i.size | (i.erases ? tombstone_flag : 0);
  e.records.fetch_add(1, std::memory_order_relaxed);  // the cleaner takes off without the lock
  if (ends)
    guard.release(now & ~(owner_mask | entry_section));
  else
    e.state.fetch_and(~uint32_t{entry_fresh}, std::memory_order_relaxed);
  return added;
}

// POW-14: releases the index of an erased object. On one stream, a thread that makes another object
// there always comes after it.
void section::give_index(const lane& l, const item& i) noexcept {
  if (s_.limit.one_stream || l.durable() >= number_)
    i.t->give_index(i.index);
  else
    i.t->give_index(i.index, l.number(), number_);
}

// Makes the section's records count: they are durable, or will be by the next sync.
void section::publish(lane& l) noexcept {
  // Of each entry there is one item, unless it was erased, or written in a part and edited again.
  bool alone = parts_ == 0;
  for (const item& i : items_) alone = alone && !i.erases;
  int64_t added = 0;
  uint32_t segment = nowhere;
  const auto count = [&] {
    if (added != 0) s_.space->note(segment).live.fetch_add(added, std::memory_order_relaxed);
    added = 0;
  };
  for (item& i : items_) {
    if (i.segment == nowhere) continue;
    if (i.segment != segment) count();
    segment = i.segment;
    added += publish(i, alone);
  }
  count();
  for (item& i : items_) {
    if (alone) break;
    uint32_t drop = owner_mask | entry_section;
    const uint32_t now = i.e->state.load(std::memory_order_relaxed);
    // An entry may have several items. The first one releases it, and other sections may own it
    // from then on.
    if (owner_of(now) != slot_.number) continue;
    const bool gone = (now & entry_erased) != 0;
    if (gone) drop |= entry_live;
    i.e->state.fetch_and(~drop, std::memory_order_release);
    if (gone && !i.t->chooses) give_index(l, i);
  }
  if (memory_ != 0)
    l.memory.store(l.memory.load(std::memory_order_relaxed) + memory_, std::memory_order_relaxed);
}

}  // namespace scute::core::pow

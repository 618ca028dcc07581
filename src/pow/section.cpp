// SPDX-License-Identifier: BSD-3-Clause
#include "pow/section.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "base/planted.hpp"
#include "pow/batch.hpp"

namespace scute::core::pow {
namespace {

// The section that this thread has begun last: hardly ever more than one is open.
thread_local section* newest_here = nullptr;

[[noreturn]] void refuse(scute_error code, const table& t, uint64_t index, const char* what) {
  throw failure(code, "object " + std::to_string(index) + " of table " + t.name + " " + what);
}

}  // namespace

section::section(state& s, seat& where, durability how) noexcept
    : s_(s),
      seat_(where),
      mode_(how),
      outer_(newest_here),
      locks_(where.memory.locks),
      items_(where.memory.items),
      actions_(where.memory.actions),
      rest_on_(where.memory.rest_on),
      image_(where.memory.image) {
  newest_here = this;
  seat_.open = this;
  if (how == durability::later && !s.names.load(std::memory_order_relaxed))
    s.names.store(true, std::memory_order_relaxed);
}

section& section::begin(state& s, durability how) {
  static_assert(alignof(section) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  seat& where = s.take_seat();
  auto& place = where.memory.place;
  try {
    if (place == nullptr) place.reset(new std::byte[sizeof(section)]);
  } catch (...) {
    where.busy.store(false, std::memory_order_release);
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
  for (section* o = newest_here; o != nullptr; o = o->outer_)
    if (&o->s_ == &s) return o;
  return nullptr;
}

bool section::is_of_thread(const section* s) noexcept {
  const section* o = newest_here;
  while (o != nullptr && o != s) o = o->outer_;
  return o != nullptr;
}

void section::leave_thread() noexcept {
  section** at = &newest_here;
  while (*at != this) at = &(*at)->outer_;
  *at = outer_;
}

void section::add_lock(void* lock, void (*unlock)(void*), bool shared) {
  locks_.push_back({lock, unlock, shared});
  if (!s_.limit.watch_locks || shared) return;
  const auto tell = [](void* other) { static_cast<section*>(other)->gave_away_.store(true); };
  bool mine = false;
  try {
    mine = s_.locks.add_holder(lock, this, tell);
  } catch (...) {
    locks_.pop_back();
    throw;
  }
  if (mine) return;
  locks_.pop_back();
  throw failure(SCUTE_E_CONFLICT,
                "another section of " + s_.name +
                    " is open that has this lock as well: it has waited on a condition variable, "
                    "and what it changed is not committed");
}

log::stores section::how() const noexcept {
  return mode_ == durability::later || s_.limit.one_stream ? log::stores::cached
                                                           : log::stores::streamed;
}

// ---- what is changed ------------------------------------------------------------------------------------

// The entry, which belongs to this section from now on, with this mark. was: its state before.
entry& section::own(table& t, uint64_t index, uint32_t tag, uint32_t mark, uint32_t& was) {
  s_.refuse_if_failed();
  entry* const e = t.find(index);
  const uint32_t mine = seat_.number << owner_shift;
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
  return owner_of(was) != seat_.number;
}

void section::add_undo(void (*back)(void*, void*), void* who, const void* bytes, size_t n) {
  void* const copy = seat_.memory.saved.take(n);
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
  const uint32_t mine = seat_.number << owner_shift;
  uint32_t was = e.state.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t owner = was & owner_mask;
    if (owner != 0 && owner != mine)
      refuse(SCUTE_E_CONFLICT, t, index, "is edited in another section at this moment");
    if ((was & entry_live) != 0 && (was & entry_erased) == 0)
      refuse(SCUTE_E_EXISTS, t, index, "is there already");
    // Erased and made again in one section: one object that changes.
    const uint32_t fresh = (was & entry_erased) != 0 ? (was & entry_fresh) : uint32_t{entry_fresh};
    uint32_t tag = tag_of(was) + 1;
    if (e.version.load(std::memory_order_relaxed) == 0 && tag_of(was) == 0)
      tag = static_cast<uint32_t>(s_.head.session * 257 + 1);
    tag &= 0xffff;
    if (tag == 0) tag = 1;  // with index 0 the id would be the one of nothing
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

// ---- writing ----------------------------------------------------------------------------------------------

// Nothing of it is written: it was changed once more behind this.
bool section::skipped(const item& i) noexcept {
  const uint32_t now = i.e->state.load(std::memory_order_relaxed);
  if (!i.erases) return (now & entry_erased) != 0;
  if ((now & entry_erased) == 0) return true;
  return (now & entry_fresh) != 0 && (now & entry_streamed) == 0;
}

uint64_t section::measure(item& i) {
  i.size = i.erases ? 0 : i.t->size != 0 ? i.t->size : i.t->kept_by->measure(i.index);
  const uint64_t whole = round_record(i.size);
  // What it names takes room as well. An object must not be refused for what others have left undurable.
  if (!rest_on_.empty() && whole + frame_overhead + trailer_bytes() > s_.layout.frame_max()) {
    s_.sync(s_.writer_of(seat_));
    rest_on_.clear();
  }
  if (i.size > record_size_max || whole + frame_overhead + trailer_bytes() > s_.layout.frame_max())
    throw failure(SCUTE_E_RANGE,
                  "object " + std::to_string(i.index) + " of table " + i.t->name + " takes " +
                      std::to_string(i.size) + " bytes, more than a segment of " + s_.name +
                      " has room for (" + std::to_string(s_.layout.frame_max()) + ")");
  return whole;
}

uint64_t section::trailer_bytes() const noexcept {
  const uint64_t bytes =
      sizeof(format::frame_head) + rest_on_.size() * sizeof(dependency) + sizeof(uint64_t);
  return s_.layout.lines_of(bytes) * log::line_size;
}

void section::put_record(item& i) {
  const uint32_t tag = tag_of(i.e->state.load(std::memory_order_relaxed));
  std::byte* const to = add_record(image_, i.t->number, make_id(i.index, tag), i.size, i.erases);
  if (!i.erases && i.size != 0) i.t->kept_by->encode(i.index, to);
}

uint32_t section::put_dependencies() {
  if (s_.limit.one_stream) return 0;  // the order in the one lane says it
  for (const dependency& d : rest_on_) add_dependency(image_, d.lane, d.number);
  return static_cast<uint32_t>(rest_on_.size());
}

// POW-3.
uint64_t section::version_of(lane& l, size_t from, size_t to) const noexcept {
  uint64_t version = l.clock;
  for (size_t k = from; k < to; ++k)
    if (!SCUTE_PLANTED(pow_version) && !skipped(items_[k]))
      version = std::max(version, items_[k].e->version.load(std::memory_order_relaxed));
  return l.clock = version + 1;
}

void section::write_whole(lane& l) {
  log::segment_writer::start(image_);
  const uint32_t named = put_dependencies();
  const uint64_t version = version_of(l, 0, items_.size());
  for (item& i : items_)
    if (!skipped(i)) put_record(i);
  l.append(image_, frame_kind::whole, named, version, 0, how());
  for (item& i : items_)
    if (!skipped(i)) {
      i.segment = l.segment();
      i.version = version;
    }
}

// Items from streamed_ on. So that a trailer can always be written, there is room for one behind each part.
void section::write_parts(lane& l) {
  // (What is measured against it has the frame's head in it already.)
  const uint64_t most =
      s_.layout.frame_max() - (frame_overhead - sizeof(format::frame_head)) - trailer_bytes();
  while (streamed_ < items_.size()) {
    uint64_t bytes = sizeof(format::frame_head);
    size_t end = streamed_;
    for (; end < items_.size(); ++end) {
      if (skipped(items_[end])) continue;
      const uint64_t whole = measure(items_[end]);
      if (bytes + whole > most) break;
      bytes += whole;
    }
    if (bytes != sizeof(format::frame_head)) {
      if (parts_ == parts_max)
        throw failure(SCUTE_E_RANGE, "a section of " + s_.name + " has too many parts");
      s_.make_room(l, s_.layout.lines_of(bytes) * log::line_size + trailer_bytes(), kept(),
                   parts_ != 0, how());
      log::segment_writer::start(image_);
      const uint64_t version = version_of(l, streamed_, end);
      for (size_t k = streamed_; k < end; ++k)
        if (!skipped(items_[k])) put_record(items_[k]);
      l.append(image_, frame_kind::part, 0, version, parts_, how());
      ++parts_;
      for (size_t k = streamed_; k < end; ++k) {
        item& i = items_[k];
        if (skipped(i)) continue;
        i.segment = l.segment();
        i.version = version;
        i.e->state.fetch_or(entry_streamed, std::memory_order_relaxed);
      }
    }
    for (size_t k = streamed_; k < end; ++k)
      if (!items_[k].erases)
        items_[k].e->state.fetch_and(~uint32_t{entry_queued}, std::memory_order_relaxed);
    streamed_ = end;
  }
}

void section::write_trailer(lane& l, frame_kind kind) {
  log::segment_writer::start(image_);
  const uint32_t named = kind == frame_kind::commit ? put_dependencies() : 0;
  const uint64_t parts = parts_;
  std::memcpy(image_.extend(sizeof parts), &parts, sizeof parts);
  if (!(kind == frame_kind::abort && SCUTE_PLANTED(pow_trailer)))
    l.append(image_, kind, named, l.clock, parts_, how());
}

void section::write(lane& l) {
  uint64_t bytes = sizeof(format::frame_head) + rest_on_.size() * sizeof(dependency);
  bool any = parts_ != 0;
  for (size_t k = streamed_; k < items_.size(); ++k) {
    if (skipped(items_[k])) continue;
    bytes += measure(items_[k]);
    any = true;
  }
  if (!any) return;
  if (s_.limit.max_memory != 0) {
    int64_t more = 0;
    for (const item& i : items_) {
      if (skipped(i)) continue;
      const bool fresh = (i.e->state.load(std::memory_order_relaxed) & entry_fresh) != 0;
      more += int64_t{i.size} - static_cast<int64_t>(fresh ? 0 : i.e->bytes());
      if (fresh) more += state::per_object;
    }
    if (more > 0 && s_.memory() + static_cast<uint64_t>(more) > s_.limit.max_memory)
      throw failure(SCUTE_E_NOSPC, s_.name + " would hold more than its max_memory of " +
                                       std::to_string(s_.limit.max_memory) +
                                       " bytes; erase some objects, or open it with more");
  }
  const bool whole = parts_ == 0 && bytes + frame_overhead <= s_.layout.frame_max();
  if (whole) {
    s_.make_room(l, bytes, kept(), false, how());
  } else {
    write_parts(l);
    if (trailer_bytes() > l.room()) {  // more was named since the last part
      s_.sync(s_.writer_of(seat_));
      rest_on_.clear();
    }
  }
  begin_naming(l);
  if (whole)
    write_whole(l);
  else
    write_trailer(l, frame_kind::commit);
  wrote_ = true;
}

// From here to the batch's end the cleaner waits for this section, unless it is waited for itself: there is room by now,
// so this section needs no cleaning any more. What is durable already is not named (POW-8).
void section::begin_naming(lane& l) noexcept {
  if (s_.limit.one_stream || rest_on_.empty()) return;
  l.naming.store(true, std::memory_order_seq_cst);
  rest_on_.leave([&](uint32_t lane_number, uint64_t number) {
    return s_.find_lane(lane_number)->durable() < number;
  });
}

void section::stream() {
  if (s_.limit.one_stream || streamed_ == items_.size()) return;
  lane& l = s_.lane_of(seat_);
  write_parts(l);
}

// What may not be durable of what this section has seen.
void section::collect_dependencies() {
  rest_on_.clear();
  if (!s_.limit.one_stream && !s_.names.load(std::memory_order_relaxed)) return;
  for (const held_lock& h : locks_)
    if (!SCUTE_PLANTED(pow_lock_names)) s_.locks.collect(h.lock, rest_on_);
  if (!SCUTE_PLANTED(pow_thread_names)) rest_on_.add(seat_.seen);
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

// ends: nothing else of this section is in the entry, which belongs to nobody from then on. What the record adds to its
// segment's live bytes.
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
    else
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

// What is durable, or will be by the next sync, is what counts from now on.
void section::publish(lane& l) noexcept {
  // Of each entry there is one item, unless it was erased, or written in a part and edited again.
  bool alone = parts_ == 0;
  for (const item& i : items_) alone = alone && !i.erases;
  int64_t added = 0;
  uint32_t segment = nowhere;
  const auto tell = [&] {
    if (added != 0) s_.space->note(segment).live.fetch_add(added, std::memory_order_relaxed);
    added = 0;
  };
  for (item& i : items_) {
    if (i.segment == nowhere) continue;
    if (i.segment != segment) tell();
    segment = i.segment;
    added += publish(i, alone);
  }
  tell();
  for (item& i : items_) {
    if (alone) break;
    uint32_t drop = owner_mask | entry_section;
    const uint32_t now = i.e->state.load(std::memory_order_relaxed);
    // An entry may have several items. The first one gives it back, and others may have it from then on.
    if (owner_of(now) != seat_.number) continue;
    const bool gone = (now & entry_erased) != 0;
    if (gone) drop |= entry_live;
    i.e->state.fetch_and(~drop, std::memory_order_release);
    if (gone && !i.t->chooses) i.t->give_index(i.index);
  }
  if (memory_ != 0)
    l.memory.store(l.memory.load(std::memory_order_relaxed) + memory_, std::memory_order_relaxed);
}

}  // namespace scute::core::pow

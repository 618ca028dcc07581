// SPDX-License-Identifier: BSD-3-Clause
#include "pow/state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/planted.hpp"
#include "base/uncancelled.hpp"
#include "codec/crc32c.hpp"
#include "pow/seal.hpp"

namespace scute::core::pow {
namespace {

thread_local uint32_t wanted_seat = 0;

uint64_t this_thread_number() noexcept {
  static std::atomic<uint64_t> last{0};
  thread_local const uint64_t mine = ++last;
  return mine;
}

}  // namespace

void prefer_seat(uint32_t number) noexcept {
  wanted_seat = number;
}

void_head make_void_head(uint64_t salt) noexcept {
  void_head h{};
  h.magic = void_magic;
  h.salt = salt;
  h.checksum = codec::crc32c(0, &salt, sizeof salt);
  return h;
}

state::state(std::unique_ptr<medium::medium> m, std::string file, const limits& l)
    : medium(std::move(m)), name(std::move(file)), limit(l), read_only(medium->read_only()) {
  for (uint32_t i = 0; i < lanes_max; ++i) seats_[i].number = i;
}

void state::refuse_if_failed() const {
  if (!medium->failed()) return;
  throw_errno("make what was written to " + name +
                  " durable; nothing more is written to it: close the store and open it again",
              medium->failure());
}

bool state::read_segment(uint64_t offset, std::byte* to, size_t n) const noexcept {
  if (mended.empty()) return medium->read(offset, to, n);
  const auto at = mended.find(static_cast<uint32_t>((offset - first_segment) / head.segment_size));
  if (at == mended.end()) return medium->read(offset, to, n);
  std::memcpy(to, at->second.data() + (offset - first_segment) % head.segment_size, n);
  return true;
}

const std::byte* state::view_segment(uint64_t offset, size_t) const noexcept {
  if (medium->what() != medium::kind::ram || !mended.empty() || medium->any_revoked())
    return nullptr;
  return medium->base() + offset;
}

void state::read_record(const location& where, std::byte* to, uint64_t n) const {
  const uint64_t base = space->place(where.segment).at[0];
  uint64_t at = where.inside;
  // Recovery has read these very bytes a moment ago, so the device has them: a system call for every line would take
  // several times as long as all the rest of opening.
  const bool mapped = mended.empty() && !medium->any_revoked() &&
                      !space->note(where.segment).repaired.load(std::memory_order_relaxed);
  while (n != 0) {
    const uint64_t line = where.position + at / log::line_size, in_line = at % log::line_size;
    const bool tracks = layout.how() == log::redundancy::tracks;
    const uint64_t here = tracks ? std::min(n, log::line_size - in_line) : n;
    const uint64_t from = base + layout.offset_of(line) + in_line;
    if (mapped)
      std::memcpy(to, medium->base() + from, here);
    else if (!read_segment(from, to, here))
      throw failure(SCUTE_E_CORRUPT, "an object in segment " + std::to_string(where.segment) +
                                         " of " + name + " cannot be read");
    to += here;
    at += here;
    n -= here;
  }
}

void state::store_void_head(medium::writer& w, uint32_t s) const noexcept {
  const void_head h = make_void_head(salt);
  log::store_lines(w, medium->base(), layout, space->place(s), 0, std::as_bytes(std::span(&h, 1)));
}

bool state::grow(medium::writer& w) {
  const locked guard(head_lock);
  const uint64_t now = space->count();
  const uint64_t to = std::min(now + limit.growth, space->most());
  if (to == now) return false;
  const uint64_t from = first_segment + now * head.segment_size;
  if (const int e = medium->grow(from, (to - now) * head.segment_size); e != 0) {
    if (e == ENOSPC || e == EDQUOT || e == EFBIG) return false;
    throw_errno("make " + name + " longer", e);
  }
  medium->will_use(from, (to - now) * head.segment_size);
  if (!SCUTE_PLANTED(pow_grow_void))
    for (uint64_t s = now; s < to; ++s) store_void_head(w, static_cast<uint32_t>(s));
  w.fence(fence_site::pow_grow);
  refuse_if_failed();  // the head must not name what may not be void
  head.segments = to;
  write_head(w, head);
  space->grown_to(to);
  count.growths.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void state::shrink(medium::writer& w) {
  const locked guard(head_lock);
  uint64_t to = space->count();
  while (to != 0 && space->note(static_cast<uint32_t>(to - 1)).what.load() == use::free) --to;
  // (Planted: the last segment that something counts in goes as well.)
  if (SCUTE_PLANTED(pow_cut_used))
    to -= 1;
  else
    to = std::max<uint64_t>(to + segments_spare, segments_least);
  if (to >= space->count() || !space->cut_to(to)) return;
  head.segments = to;
  write_head(w, head);
  refuse_if_failed();
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = find_lane(i)) l->forget_from(to);
  // The head says so already: bytes that stay cost room and nothing else.
  medium->cut(first_segment + to * head.segment_size);
}

lane& state::make_lane(uint32_t number) {
  const locked guard(lanes_lock_);
  if (lane_owners_[number] == nullptr) {
    lane_owners_[number] = std::make_unique<lane>(number, *medium, *space, identity(number));
    if (number != cleaner_lane) space->add_lane();
    lanes_[number].store(lane_owners_[number].get(), std::memory_order_release);
  }
  return *lane_owners_[number];
}

medium::writer& state::writer_of(seat& s) {
  if (!limit.one_stream) return lane_of(s).w;
  if (s.own == nullptr) s.own = std::make_unique<medium::writer>(*medium);
  return *s.own;
}

seat& state::take_seat() {
  seat& s = find_seat();
  if (s.is_ready) return s;
  try {
    static_cast<void>(lane_of(s));
    static_cast<void>(writer_of(s));
    s.is_ready = true;
  } catch (...) {
    s.busy.store(false, std::memory_order_release);
    throw;
  }
  return s;
}

seat& state::find_seat() {
  if (read_only)
    throw failure(SCUTE_E_READONLY, name + " is open read-only, so nothing in it can be changed");
  thread_local uint32_t last = 0;
  const uint64_t me = this_thread_number();
  const auto take = [&](uint32_t i) {
    return !seats_[i].busy.load(std::memory_order_relaxed) &&
           !seats_[i].busy.exchange(true, std::memory_order_acquire);
  };
  if (wanted_seat != 0) {
    for (unsigned spins = 0; !take(wanted_seat);) spin_pause(spins);
    seats_[wanted_seat].thread.store(me, std::memory_order_relaxed);
    return seats_[wanted_seat];
  }
  if (last != 0 && take(last)) {
    if (seats_[last].thread.load(std::memory_order_relaxed) == me) return seats_[last];
    seats_[last].busy.store(false, std::memory_order_release);
  }
  // This thread's own, elsewhere than at the last store. It has seen what nobody else may name, so this waits if
  // end_idle_segments() is in it at this moment.
  for (uint32_t i = 1; i < lanes_max; ++i)
    for (unsigned spins = 0; seats_[i].thread.load(std::memory_order_relaxed) == me;) {
      if (!take(i)) {
        spin_pause(spins);
        continue;
      }
      if (seats_[i].thread.load(std::memory_order_relaxed) == me) {
        last = i;
        return seats_[i];
      }
      seats_[i].busy.store(false, std::memory_order_release);  // somebody else's by now
    }
  for (unsigned spins = 0;; spin_pause(spins)) {
    // One that nobody ever had, or else anyone's: what its thread has seen must be durable then, since that thread
    // will sit somewhere else.
    for (const bool any : {false, true})
      for (uint32_t i = 1; i < lanes_max; ++i) {
        const auto of = [&] { return seats_[i].thread.load(std::memory_order_relaxed); };
        if (!any && of() != 0 && of() != me) continue;
        if (!take(i)) continue;
        seat& s = seats_[i];
        if (of() != me && of() != 0 && !s.seen.empty()) {
          try {
            sync(writer_of(s));
          } catch (...) {
            s.busy.store(false, std::memory_order_release);
            throw;
          }
          s.seen.clear();
        }
        s.thread.store(me, std::memory_order_relaxed);
        last = i;
        return s;
      }
  }
}

void state::end_idle_segments() {
  if (limit.one_stream) {
    const locked alone(stream_lock);
    if (lane* const l = find_lane(stream_lane)) {
      l->end_segment_durably();
    }
  } else {
    for (uint32_t i = 1; i < lanes_max; ++i) {
      lane* const l = find_lane(i);
      if (l == nullptr || seats_[i].busy.exchange(true, std::memory_order_acquire)) continue;
      l->end_segment_durably();
      seats_[i].busy.store(false, std::memory_order_release);
    }
  }
}

bool state::worth_cleaning() const noexcept {
  const uint64_t used = space->used_bytes(), live = space->live_bytes();
  const uint64_t in_hand = segments_in_hand * space->segment_size();
  return used > in_hand &&
         static_cast<double>(live) < limit.max_live_share * static_cast<double>(used - in_hand);
}

void state::make_room(lane& l, uint64_t bytes, need kept, bool spanned, log::stores how) {
  // Copies of large objects may fill as much as they free, for ever.
  bool ended = false;
  for (unsigned in_vain = 0, helped = 0;;) {
    // What was kept back for erasing is not to be filled with anything else, by whoever has it open.
    const bool owes = kept == need::ordinary && (l.borrows() || SCUTE_PLANTED(pow_all_owe)) &&
                      space->free_count() < space->stays(kept) && !SCUTE_PLANTED(pow_erase_room);
    if (l.room() >= bytes && !owes) return;
    uint32_t s = nowhere;
    if (l.room() < bytes && space->take(kept, s)) {
      l.begin(s, spanned);
      l.borrow(kept == need::erasing && space->free_count() < space->stays(need::ordinary));
      // Others can make cached stores durable, and not this head.
      if (how == log::stores::cached) l.w.fence(fence_site::pow_begin);
      // (The cleaner has the lock that this takes, and looks itself.)
      if (groups != nullptr && l.number() != cleaner_lane) groups->offer(l.w);
      continue;
    }
    if (limit.bounded && kept >= need::erasing && clean_one != nullptr &&
        helped < cleaned_before_growth_max && worth_cleaning()) {
      ++helped;
      if (clean_one(*this, kept) != 0) continue;
    }
    if (grow(l.w)) continue;
    // What is open is no victim, and may hold little that counts. Who is not just erasing looks there only if there is much to gain.
    const bool last_resort =
        kept == need::erasing || (kept == need::ordinary && l.room() < bytes && worth_cleaning() &&
                                  !SCUTE_PLANTED(pow_idle_open));
    if (last_resort && !spanned && l.segment() != nowhere) l.end_segment_durably();
    // Who erases goes on as long as anything is gained at all, however little each segment gives.
    const uint64_t in_vain_max = kept == need::erasing ? space->count() : cleaned_in_vain_max;
    if (kept >= need::erasing && clean_one != nullptr && in_vain < in_vain_max)
      if (const int cleaned = clean_one(*this, kept); cleaned != 0) {
        // (What others take meanwhile was gained all the same.)
        in_vain = cleaned == 2 ? 0 : in_vain + 1;
        continue;
      }
    // Another thread may have cleaned all there was, while this one waited for its turn.
    if (space->free_count() > space->stays(kept) ||
        (owes && space->free_count() == space->stays(kept)))
      continue;
    // Or what is left to gain is in segments that others have open, and do not use.
    if (last_resort && !limit.one_stream && !ended) {
      ended = true;
      in_vain = 0;
      end_idle_segments();
      continue;
    }
    throw failure(SCUTE_E_NOSPC, name + " is full: " + std::to_string(space->live_bytes()) +
                                     " bytes of objects count in " +
                                     std::to_string(space->count()) +
                                     " segments; erase some, or open it with a larger max_size");
  }
}

// First up to where, and then the writing back: what a batch names is finished before the batch is. So what is finished when
// its lane is looked at again has all that the first look has found, and may not be durable though the first look has found it
// so (POW-15).
void state::sync(medium::writer& w) {
  const uncancelled now;
  refuse_if_failed();
  std::array<uint64_t, lanes_max> numbers;
  for (uint32_t i = 0; i < lanes_max; ++i) {
    const lane* const l = find_lane(i);
    numbers[i] = l == nullptr ? 0 : l->finished();
    if (l != nullptr) switch_point();  // others get on with what this one has not looked at yet
  }
  const auto up_to = [&](uint32_t i, const lane& l) {
    return SCUTE_PLANTED(pow_sync_once) ? numbers[i] : l.finished();
  };
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = find_lane(i); l != nullptr && l->durable() < up_to(i, *l)) {
      if (SCUTE_PLANTED(pow_sync_own) && &l->w != &w) continue;
      l->write_back(w);
    }
  w.fence(fence_site::pow_sync);
  refuse_if_failed();
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = find_lane(i); l != nullptr && l->durable() < numbers[i])
      l->confirm_to(numbers[i]);
  count.syncs.fetch_add(1, std::memory_order_relaxed);
}

table* state::find_table(uint32_t number) const noexcept {
  return number < tables_max ? tables_[number].load(std::memory_order_acquire) : nullptr;
}

table& state::table_at(uint32_t number) {
  if (table* const t = find_table(number)) return *t;
  throw failure(SCUTE_E_INVALID, "there is no table " + std::to_string(number) + " in " + name);
}

table& state::add_table(uint32_t number) {
  if (number >= tables_max)
    throw failure(SCUTE_E_RANGE,
                  "a store has at most " + std::to_string(tables_max - 1) + " tables");
  const locked guard(tables_lock_);
  auto& owner = table_owners_[number];
  if (owner == nullptr) {
    owner = std::make_unique<table>(number);
    tables_[number].store(owner.get(), std::memory_order_release);
  }
  return *owner;
}

uint64_t state::memory() const noexcept {
  int64_t sum = 0;
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (const lane* const l = find_lane(i)) sum += l->memory.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<uint64_t>(sum);
}

}  // namespace scute::core::pow

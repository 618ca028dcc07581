// SPDX-License-Identifier: BSD-3-Clause
// How a lane gets a segment, and the file gets more of them (pow/state.hpp).
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/failure.hpp"
#include "pow/file/seal.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

// One call of make_room(), and its attempts so far.
struct state::search {
  lane& l;
  uint64_t bytes;
  need kept;
  bool spanned;
  log::stores how;
  uint64_t segments = 0;       // that there were when this turn began
  unsigned before_growth = 0;  // victims in a row that gave nothing, instead of growing
  unsigned at_last = 0;        // the same, in a file that cannot grow
  bool ended_others = false;   // segments that others have open
  int refusal = 0;             // of the file system: errno
};

// While a thread waits for its turn, others may make room. Then it must neither grow the file nor
// be refused. So after every wait it checks the file's length and the free segments again.
void state::make_room(lane& l, uint64_t bytes, need kept, bool spanned, log::stores how) {
  search r{l, bytes, kept, spanned, how};
  while (!has_room(r)) {
    r.segments = space->count();
    if (!take_segment(r) && !clean_before_growth(r) && !grow(l.w, r.segments, r.refusal) &&
        !clean_at_last(r))
      refuse_growth(r);
  }
}

// Room reserved for erasing must not be filled with anything else, by whichever thread has it open.
bool state::owes(const search& r) const {
  return r.kept == need::ordinary && r.l.borrows() && space->free_count() < space->stays(r.kept);
}

bool state::has_room(const search& r) const {
  return r.l.room() >= r.bytes && !owes(r);
}

// The number of free segments with which the search succeeds.
uint64_t state::enough_free(const search& r) const {
  return space->stays(r.kept) + (owes(r) ? 0 : 1);
}

bool state::take_segment(search& r) {
  uint32_t s = nowhere;
  lane& l = r.l;
  if (l.room() >= r.bytes || !space->take(r.kept, s)) return false;
  l.begin(s, r.spanned);
  l.borrow(r.kept == need::erasing && space->free_count() < space->stays(need::ordinary));
  // Other threads can make cached stores durable, but not this head.
  if (r.how == log::stores::cached) l.w.fence(fence_site::pow_begin);
  // The cleaner holds the lock that this takes, and checks itself.
  if (groups != nullptr && l.number() != cleaner_lane) groups->offer(l.w);
  return true;
}

bool state::worth_cleaning() const noexcept {
  const uint64_t used = space->used_bytes();
  const uint64_t in_hand = segments_in_hand * space->segment_size();
  return used > in_hand && static_cast<double>(space->live_bytes()) <
                               limit.max_live_share * static_cast<double>(used - in_hand);
}

uint64_t state::batches() const noexcept {
  uint64_t n = 0;
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (const lane* const l = find_lane(i)) n += l->batches.load(std::memory_order_relaxed);
  return n;
}

bool state::cleans_first(need kept, unsigned in_vain) const noexcept {
  return limit.bounded && kept >= need::erasing && cleans != nullptr &&
         in_vain < cleaned_before_growth_max && worth_cleaning();
}

// POW-17.
bool state::clean_before_growth(search& r) {
  if (!cleans_first(r.kept, r.before_growth)) return false;
  const int cleaned = clean_one(*this, r.kept, enough_free(r));
  if (cleaned == 0)
    return end_idle_segments(idle::orphans) || space->free_count() >= enough_free(r);
  r.before_growth = cleaned == 2 ? 0 : r.before_growth + 1;
  return true;
}

bool state::grow(medium::writer& w, uint64_t seen, int& refusal) {
  const locked guard(head_lock);
  const uint64_t now = space->count();
  if (now > seen) return true;
  const uint64_t to = std::min(now + limit.growth, space->most());
  refusal = 0;
  if (to == now) return false;
  const uint64_t from = first_segment + now * head.segment_size;
  refusal = medium->grow(from, (to - now) * head.segment_size);
  if (refusal == ENOSPC || refusal == EDQUOT || refusal == EFBIG) return false;
  if (refusal != 0) throw_errno("make " + name + " longer", refusal);
  medium->will_use(from, (to - now) * head.segment_size);
  for (uint64_t s = now; s < to; ++s) store_void_head(w, static_cast<uint32_t>(s));
  w.fence(fence_site::pow_grow);
  refuse_if_failed();  // the head must not name what may not be void
  head.segments = to;
  write_head(w, head);
  space->grown_to(to);
  count.growths.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// In a file that cannot grow.
bool state::clean_at_last(search& r) {
  // Open segments are not victims, and may hold few bytes that count. A section that does not only
  // erase ends them only if there is much to gain.
  const bool may_end = r.kept == need::erasing ||
                       (r.kept == need::ordinary && r.l.room() < r.bytes && worth_cleaning());
  if (may_end && !r.spanned && r.l.segment() != nowhere) r.l.end_segment_durably();
  // Copies of large objects may fill as much as they free, for ever. A section that erases
  // continues as long as anything is gained, however little each segment gives.
  const uint64_t in_vain_max = r.kept == need::erasing ? space->count() : cleaned_in_vain_max;
  if (r.kept >= need::erasing && clean_one != nullptr && r.at_last < in_vain_max)
    if (const int cleaned = clean_one(*this, r.kept, enough_free(r)); cleaned != 0) {
      // Room that others take meanwhile was gained all the same.
      r.at_last = cleaned == 2 ? 0 : r.at_last + 1;
      return true;
    }
  if (space->free_count() >= enough_free(r)) return true;
  // The remaining gain may be in segments that others have open and do not use.
  if (!may_end || limit.one_stream || r.ended_others) return false;
  r.ended_others = true;
  r.at_last = 0;
  end_idle_segments(idle::any);
  return true;
}

void state::refuse_growth(const search& r) const {
  if (r.refusal != 0)
    throw failure(SCUTE_E_NOSPC,
                  name + " cannot become larger than " +
                      std::to_string(first_segment + space->count() * head.segment_size) +
                      " bytes: " + std::strerror(r.refusal) +
                      "; make room on its file system, or erase some objects");
  throw failure(SCUTE_E_NOSPC, name + " is full: " + std::to_string(space->live_bytes()) +
                                   " bytes of live objects in " + std::to_string(space->count()) +
                                   " segments; erase some, or open it with a larger max_size");
}

}  // namespace scute::core::pow

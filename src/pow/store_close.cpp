// SPDX-License-Identifier: BSD-3-Clause
// Closes a store properly: segments' ends, groups and the head page record it.
#include <algorithm>
#include <new>
#include <span>

#include "pow/store.hpp"

namespace scute::core::pow {

void store::close() {
  if (s_.read_only) return;
  sync();
  const locked cleaning(s_.clean_lock);
  // POW-12: each by its lane's writer, which may have an end pending already.
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = s_.find_lane(i)) l->end_segment_durably();
  s_.refuse_if_failed();  // the head must not claim ends that are not durable
  restore_seals();
  seal_all();
  const locked guard(s_.head_lock);
  medium::writer w(*s_.medium);
  s_.head.clean = 1;
  s_.head.in_use = 0;
  for (uint32_t i = 0; i < s_.space->count(); ++i)
    s_.head.in_use += s_.space->note(i).what.load() != use::free;
  s_.head.decided = s_.head.session;
  drop_unneeded_last_valid();
  write_head(w, s_.head);
  s_.refuse_if_failed();
}

// POW-22.
void store::restore_seals() {
  if (s_.groups == nullptr) return;
  try {
    s_.groups->restore_all(s_.lane_at(cleaner_lane).w);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next opening does it
  }
}

// Makes groups of all full segments, so that a closed file is completely protected, if there is
// room.
void store::seal_all() {
  if (s_.groups == nullptr) return;
  s_.groups->forget_loose();
  try {
    s_.groups->make(s_.lane_at(cleaner_lane).w, true);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then it is not
  }
}

// Drops decisions about lanes without segments: they are no longer needed.
void store::drop_unneeded_last_valid() noexcept {
  file_head& h = s_.head;
  const auto is_there = [&](const last_valid_batch& c) {
    for (uint32_t i = 0; i < s_.space->count(); ++i) {
      const segment_note& n = s_.space->note(i);
      if (n.what.load() != use::free && n.session == c.session && n.lane == c.lane) return true;
    }
    return false;
  };
  const std::span all(h.last_valid);
  last_valid_batch* const end =
      std::remove_if(h.last_valid, h.last_valid + h.last_valid_count,
                     [&](const last_valid_batch& c) { return !is_there(c); });
  h.last_valid_count = static_cast<uint32_t>(end - h.last_valid);
  std::fill(end, all.data() + all.size(), last_valid_batch{});
}

}  // namespace scute::core::pow

// SPDX-License-Identifier: BSD-3-Clause
// How sections end (pow/sections/section.hpp).
#include <algorithm>
#include <mutex>
#include <utility>

#include "pow/sections/section.hpp"

namespace scute::core::pow {

// ---- the end ------------------------------------------------------------------------------------

void section::commit() {
  if (depth_ > 1) {
    --depth_;
    return;
  }
  if (aborted_) {
    abort();
    throw failure(SCUTE_E_ABORTED,
                  "a section inside this one was aborted, or a table that it had changed was "
                  "closed, so all of it was undone");
  }
  if (gave_away_.load()) {
    abort();
    throw failure(SCUTE_E_INVALID,
                  "a lock of this section was released while the section was open, so other "
                  "threads may have seen uncommitted changes; the section was aborted. Do not wait "
                  "on a condition variable inside a section");
  }
  const bool wait = s_.limit.one_stream && mode_ == durability::strict;
  medium::writer* w = nullptr;
  try {
    // Everything that takes memory comes first: after the batch nothing may fail.
    if (wait) w = &s_.writer_of(slot_);
    collect_dependencies();
    if (!s_.limit.one_stream && mode_ == durability::strict && !rest_on_.empty()) {
      s_.sync(s_.writer_of(slot_));
      rest_on_.clear();
    }
    if (!items_.empty()) {
      s_.refuse_if_failed();
      lane& l = s_.lane_of(slot_);
      const std::unique_lock<waiting_mutex> alone = s_.limit.one_stream
                                                        ? std::unique_lock(s_.stream_lock)
                                                        : std::unique_lock<waiting_mutex>();
      try {
        write(l);
        if (wrote_) make_durable(l);
      } catch (...) {
        abandon_parts();
        l.naming.store(false, std::memory_order_release);
        throw;
      }
      if (l.naming.load(std::memory_order_relaxed))
        l.naming.store(false, std::memory_order_release);
      switch_point();  // the cleaner finds segments full of records that no entry knows yet
      publish(l);
      l.unpin();
    }
  } catch (...) {
    abort();
    throw;
  }
  for (const action& a : actions_)
    if (a.done != nullptr) a.done(a.who, a.what);
  leave_dependencies();
  const auto undurable = [&](uint32_t lane_number, uint64_t number) {
    return s_.find_lane(lane_number)->durable() < number;
  };
  bool waits = wait && wrote_ && undurable(stream_lane, number_);
  for (const dependency& d : rest_on_) waits = waits || (wait && undurable(d.lane, d.number));
  // The locks first, so that other threads continue while this one waits for the device.
  give_locks_back();
  depth_ = 0;
  if (waits) {
    try {
      s_.sync(*w);
    } catch (...) {
      end();
      throw;
    }
  }
  end();
}

// Passes on the batches that this section leaves undurable, with its locks and its thread.
void section::leave_dependencies() noexcept {
  if (!s_.limit.one_stream && !s_.names.load(std::memory_order_relaxed)) return;
  try {
    dependencies& left = slot_.memory.left;
    left = rest_on_;
    const lane& l = s_.lane_of(slot_);
    if (wrote_ && l.durable() < number_) {
      left.clear();
      left.add(l.number(), number_);
    }
    slot_.seen = left;
    const auto undurable = [this](uint32_t lane_number, uint64_t number) {
      return s_.find_lane(lane_number)->durable() < number;
    };
    for (const held_lock& h : locks_) s_.locks.note(h.lock, left, h.shared || !wrote_, undurable);
  } catch (...) {
    make_seen_durable();
  }
}

// Called if there is no memory to name the batches that this section has seen or leaves undurable.
// They become durable now; if that fails, no thread continues. (The slot has its writer, so this
// takes no memory.)
void section::make_seen_durable() noexcept {
  try {
    s_.sync(s_.writer_of(slot_));
  } catch (...) {  // NOLINT(bugprone-empty-catch): refuse_if_failed() stops all threads
  }
}

void section::abort() noexcept {
  if (depth_ > 1) {
    --depth_;
    aborted_ = true;
    return;
  }
  if (!is_open()) return;
  abandon_parts();
  roll_back();
  wrote_ = false;
  try {
    collect_dependencies();
    leave_dependencies();
  } catch (...) {
    make_seen_durable();
  }
  give_locks_back();
  depth_ = 0;
  end();
}

bool section::changes(const table& t) const noexcept {
  return std::ranges::any_of(items_, [&](const item& i) { return i.t == &t; });
}

void section::give_up() noexcept {
  abandon_parts();
  roll_back();
  items_.clear();
  actions_.clear();
  streamed_ = 0;
  aborted_ = true;
}

void section::give_locks_back() noexcept {
  for (size_t k = locks_.size(); k-- != 0;) {
    if (s_.limit.watch_locks) s_.locks.drop_holder(locks_[k].lock, this);
    locks_[k].unlock(locks_[k].lock);
  }
  locks_.clear();
}

// Writes a trailer for written parts, so that the lane's next batch is read as the next one.
void section::abandon_parts() noexcept {
  if (parts_ == 0) return;
  lane& l = s_.lane_of(slot_);
  // It takes no memory: the parts have reserved room for its lines and its bytes.
  write_trailer(l, frame_kind::abort);
  // A strict section that follows in this lane, and needs this number, writes none of it back; and
  // no thread waits for an aborted batch. On one stream every sync writes back everything.
  if (how() == log::stores::cached && !s_.limit.one_stream) l.write_back(l.w);
  if (!s_.limit.one_stream) l.w.fence(fence_site::pow_abandon);
  // POW-13. If everything before it was durable, the fence makes this batch known to be durable
  // too. The cleaner may void the segment with its trailer, and recovery must not find the lane's
  // next batches after a missing number.
  const bool all_before = l.durable() == l.finished() && !s_.limit.one_stream;
  l.finish();
  if (all_before) l.confirm();
  // The records stay on the medium until their segment is void.
  for (item& i : items_)
    if (i.segment != nowhere) {
      const entry_guard guard(*i.e);
      i.e->records.fetch_add(1, std::memory_order_relaxed);
    }
  l.unpin();
  parts_ = 0;
}

void section::roll_back() noexcept {
  for (size_t k = actions_.size(); k-- != 0;)
    if (actions_[k].back != nullptr) actions_[k].back(actions_[k].who, actions_[k].what);
  for (item& i : items_) {
    const uint32_t now = i.e->state.load(std::memory_order_relaxed);
    if (owner_of(now) != slot_.number) continue;  // another item has given it back
    const bool fresh = (now & entry_fresh) != 0;
    i.e->state.fetch_and(~(owner_mask | entry_section | (fresh ? uint32_t{entry_live} : 0)),
                         std::memory_order_release);
    // Its earlier object is durably erased.
    if (fresh && !i.t->chooses) i.t->give_index(i.index);
  }
}

void section::end() noexcept {
  leave_thread();
  slot_.memory.clear();
  slot_.open = nullptr;
  s_.leave_slot(slot_);
}

}  // namespace scute::core::pow

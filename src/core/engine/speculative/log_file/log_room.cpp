// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_file/log_room.hpp"

#include <algorithm>

#include "core/engine/speculative/block_table.hpp"

namespace scute::core::engine {

log_room::log_room(pool::state& s, log_location& location, commit_log& log, checkpoint& f,
                   segment_list list)
    : s_(s), location_(location), log_(log), checkpoint_(f), list_(std::move(list)) {
  larger_.store(list_.chunks.size() > list_.kept, std::memory_order_relaxed);
}

bool log_room::make(pool::lane& l, std::span<const log_range> records,
                    commit_log::stream_guard& turn) {
  for (unsigned spins = 0;;) {
    const commit_log::need n = log_.need_of(l.index, records);
    if (log_.make_room(l.index, n)) return true;
    s_.require_healthy();
    keep_less();
    if (grow(l, n)) continue;
    if (!log_.will_have_room(n)) return false;
    // CLOG-7. The truncation point waits for commits under way, which wait for nothing but stripes.
    turn.without([&] {
      checkpoint_.cycle();
      spin_pause(spins);
    });
  }
}

// ROOM-10. Returns true if the log has grown, or another thread has enlarged it.
bool log_room::grow(pool::lane& l, const commit_log::need& n) {
  if (location_.chunks_at_ease() == 0) return false;
  const size_t segments = log_.segments();
  {
    const locked turn(list_mutex_);
    if (list_.chunks.size() >= location_.chunks_at_ease()) return false;
  }
  try {
    if (log_.segments() == segments) lend(l, n);
    return true;
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_NOSPC) throw;
    return false;
  }
}

bool log_room::has_room_for(pool::lane& l, uint64_t bytes) {
  const commit_log::need n{bytes / log_.records_in_frame() + 2, bytes, 0};
  return log_.will_have_room(n) || grow(l, n);
}

// ROOM-8
void log_room::help_checkpoint() {
  const uint64_t begun = log_.begun();
  if (helped_at_.exchange(begun, std::memory_order_relaxed) == begun) return;
  if (log_.is_apart())
    checkpoint_.cycle();
  else
    checkpoint_.help();
}

void log_room::refuse(const commit_log::need& n) const {
  throw failure(SCUTE_E_NOSPC,
                s_.path + ": the log has no room for a transaction of " + std::to_string(n.bytes) +
                    " bytes; commit more often, or give the pool a larger log (log-cap)");
}

void log_room::lend(pool::lane& l, const commit_log::need& n) {
  lend_segments(l, n.frames + 1);
  s_.watch.deferred();  // ROOM-9: whatever becomes of the transaction
}

// lend() asks for one segment more than there are frames, and the first one of these may be the
// rest of a segment. One whole frame finds room without chunks (ROOM-2).
uint64_t log_room::records_for(uint64_t chunks) {
  uint64_t more = 0, segments = 0;
  {
    const locked turn(list_mutex_);
    more = location_.chunks_max() - std::min(location_.chunks_max(), list_.chunks.size());
    // Chunks that were lent earlier, and may stay lent until objects need them, are room as well,
    // as soon as they are checkpointed.
    const uint64_t lent = list_.chunks.size() - std::min<size_t>(list_.kept, list_.chunks.size());
    segments = (std::min(chunks, more) + lent) / list_.layout().copies() *
               (s_.geo.chunk_size / list_.segment_size);
  }
  return (std::max<uint64_t>(segments, 3) - 2) * log_.records_in_frame();
}

// ROOM-1
void log_room::lend_segments(pool::lane& l, uint64_t segments) {
  const locked turn(list_mutex_);
  const size_t chunks = chunks_of_segments(s_.geo, list_, segments);
  if (list_.chunks.size() + chunks > location_.chunks_max())
    throw failure(SCUTE_E_NOSPC,
                  s_.path + ": a transaction takes " + std::to_string(chunks) +
                      " chunks for its log, and " +
                      std::to_string(location_.chunks_max() - list_.chunks.size()) +
                      " more can be listed; commit more often, or make the pool with more room for "
                      "each lane (fewer lanes)");
  segment_list longer = list_;
  std::vector<uint64_t> lent = location_.lend(l, list_, chunks);
  longer.chunks.insert(longer.chunks.end(), lent.begin(), lent.end());
  location_.retain(longer);
  location_.write(l.w, longer);
  log_.add(longer);
  list_ = std::move(longer);
  larger_.store(true, std::memory_order_relaxed);
}

void log_room::shrink(pool::lane& l) noexcept {
  if (log_.is_apart()) return;
  const uint64_t truncation_point = log_.truncation_point();
  if (looked_at_.exchange(truncation_point, std::memory_order_relaxed) != truncation_point)
    take_off(l);
}

bool log_room::give_back(pool::lane& l) {
  // As often as all lanes may be in the middle of something. If it still fails, other threads need
  // the chunks.
  for (uint32_t attempt = 0; is_larger() && attempt < 2 + s_.geo.lane_count; ++attempt) {
    s_.require_healthy();
    checkpoint_.all();
    if (take_off(l)) return true;
    give_way();
  }
  return false;
}

bool log_room::take_off(pool::lane& l) noexcept {
  keep_less();
  try {
    const commit_log::stream_guard mine(log_);  // before the list's, as where a commit lends
    const locked turn(list_mutex_);
    if (list_.chunks.size() == list_.kept) return true;
    segment_list shorter = list_;
    shorter.chunks.resize(list_.kept);
    std::vector<uint64_t> back(list_.chunks.begin() + list_.kept, list_.chunks.end());
    if (!log_.take_off(l.index, shorter)) return false;
    location_.write(l.w, shorter);
    list_ = std::move(shorter);
    larger_.store(false, std::memory_order_relaxed);
    location_.retain(list_);
    location_.take_back(l, back);
    return true;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the next open takes back chunks left lent
    return false;
  }
}

uint64_t log_room::segments_of(uint64_t reserved) const noexcept {
  if (reserved == 0) return commit_log::kept_least;
  return 4 + 2 * (reserved / log_.usable());
}

uint64_t log_room::reserve(pool::lane& l, uint64_t offset, uint64_t bytes) {
  // At worst, each block has a frame of its own.
  uint64_t cost = 0;
  while (bytes != 0) {
    const uint64_t n = std::min(bytes, block_table::page - offset % block_table::page);
    cost += log_.bytes_of_frame(n + sizeof(format::log_record) + 2 * granule_size);
    offset += n;
    bytes -= n;
  }
  // ROOM-6
  if (segments_of(open_bytes_.fetch_add(cost) + cost) <= kept_.load()) return cost;
  try {
    keep_enough(l);
  } catch (...) {
    open_bytes_.fetch_sub(cost);
    s_.watch.deferred();  // ROOM-9
    throw;
  }
  return cost;
}

void log_room::keep_enough(pool::lane& l) {
  // The renewals of a checkpoint take segments themselves, so the number of attempts is limited.
  constexpr unsigned checkpoints_max = 3, waits_max = 100, refused_max = 10'000;
  unsigned spins = 0;
  for (unsigned attempt = 0;; ++attempt) {
    commit_log::lack lack;
    {
      const locked turn(open_mutex_);
      const uint64_t wanted = segments_of(open_bytes_.load());
      if (wanted <= kept_.load()) return;
      lack = log_.keep_back(wanted, 2);
      if (lack.missing == 0) {
        kept_.store(wanted);
        continue;
      }
    }
    s_.require_healthy();
    const bool comes = lack.missing <= lack.to_come;
    if (attempt >= checkpoints_max && (!comes || attempt % waits_max == 0)) {
      try {
        lend_segments(l, lack.missing);
        continue;
      } catch (const failure& e) {
        // ROOM-4: other threads may have been faster each time.
        if (e.code() != SCUTE_E_NOSPC || !comes || attempt >= refused_max) throw;
      }
    }
    checkpoint_.cycle();
    if (attempt >= checkpoints_max) spin_pause(spins);
  }
}

void log_room::release(uint64_t reserved) noexcept {
  if (reserved == 0) return;
  open_bytes_.fetch_sub(reserved);
  if (kept_.load() > segments_of(1)) keep_less();
}

// ROOM-7
void log_room::keep_less() noexcept {
  if (segments_of(open_bytes_.load()) >= kept_.load()) return;
  const locked turn(open_mutex_);
  uint64_t wanted = segments_of(open_bytes_.load());
  if (wanted >= kept_.load()) return;
  const uint64_t before = kept_.exchange(wanted);
  // A thread that counted its bytes before the exchange has seen the old number.
  wanted = std::min(before, std::max(wanted, segments_of(open_bytes_.load())));
  kept_.store(wanted);
  log_.keep_back(wanted, 0);
}

}  // namespace scute::core::engine

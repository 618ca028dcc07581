// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/commit_log.hpp"

#include <algorithm>
#include <utility>

#include "base/rounding.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"

namespace scute::core::engine {
namespace {

constexpr uint64_t record_part_min = 64;  // a record's smallest part, except its end

}  // namespace

commit_log::commit_log(pool::state& s, log_location& location, const segment_list& list,
                       uint64_t truncation_point, const std::vector<uint64_t>& last_frames)
    : s_(s),
      location_(location),
      segment_size_(list.segment_size),
      layout_(list.layout()),
      written_(truncation_point),
      // The frames that count are not overwritten.
      writes_(read_truncation_point(s, location).place),
      durable_(truncation_point) {
  const std::vector<log::segment> all = list.segments(s.geo);
  segment_list made = list;
  made.chunks.resize(list.kept);
  made_with_ = made.segments(s.geo).size();
  const size_t per_chunk = s.geo.chunk_size / segment_size_;
  at_ease_ = location.chunks_at_ease() * per_chunk / layout_.copies();
  const size_t most = location.chunks_max() * per_chunk;
  uses_.reserve(most);
  uses_.resize(all.size());
  count_.store(all.size(), std::memory_order_relaxed);
  free_.reserve(most);
  for (size_t i = all.size(); i-- != 0;) {
    uses_[i].where = all[i];
    uses_[i].last = i < last_frames.size() ? last_frames[i] : 0;
    if (uses_[i].last <= truncation_point)
      free_.push_back(i);
    else
      busy_.fetch_add(1, std::memory_order_relaxed);
  }
  for (uint32_t i = 0; i <= s.geo.lane_count; ++i)
    lanes_.emplace_back(
        log::segment_writer(location.target().base(), layout_, {s.salt, s.sb.epoch, i}));
  if (location.is_apart())
    for (uint32_t i = 0; i <= s.geo.lane_count; ++i) own_.emplace_back(location.target());
  counted_.resize(own_.size());
}

commit_log::stream_guard::stream_guard(commit_log& log)
    : held_(log.is_apart() ? &log.stream_ : nullptr) {
  if (held_ != nullptr) held_->lock();
}

void commit_log::stream_guard::end() noexcept {
  if (waiting_mutex* const mine = std::exchange(held_, nullptr)) mine->unlock();
}

void commit_log::fence(medium::writer& w, uint32_t lane, fence_site at) noexcept {
  if (!is_apart()) return w.fence(at);
  medium::writer& own = own_[lane];
  own.fence(at);
  w.count.fences.add(1);
  constexpr auto log = static_cast<size_t>(medium::purpose::log);
  const uint64_t bytes = own.count.bytes[log].get();
  w.count.bytes[log].add(bytes - std::exchange(counted_[lane], bytes));
  if (location_.target().failed()) s_.medium->fail_with(location_.target().failure());
}

// Calls fn(record, from, n) for the parts of records, and next(bytes) where one frame ends and
// another begins. The first frame has at most `first` bytes (0: as the others), the others as many
// as possible. Returns the bytes of the last one.
template <typename Fn, typename Next>
uint64_t commit_log::divide(std::span<const log_range> records, uint64_t first, Fn&& fn,
                            Next&& next) const {
  constexpr uint64_t head = sizeof(format::log_record);
  uint64_t most = first != 0 ? first : layout_.frame_max();
  uint64_t used = sizeof(format::frame_head);
  const auto next_frame = [&] {
    next(used);
    used = sizeof(format::frame_head);
    most = layout_.frame_max();
  };
  for (const log_range& r : records) {
    if (r.bytes == nullptr) {
      if (used + head > most) next_frame();
      fn(r, uint64_t{0}, r.length);
      used += head;
      continue;
    }
    for (uint64_t from = 0; from < r.length;) {
      if (used + head + record_part_min > most) next_frame();
      const uint64_t n = std::min(r.length - from, round_down(most - used - head, 8));
      fn(r, from, n);
      used += head + round_up(n, 8);
      from += n;
    }
  }
  return used;
}

uint64_t commit_log::records_in_frame() const noexcept {
  return layout_.frame_max() - sizeof(format::frame_head) - sizeof(format::log_record) -
         record_part_min - 8;
}

uint64_t commit_log::room_of(uint32_t lane) const noexcept {
  const lane_end& l = lanes_[lane];
  return l.leaves.load(std::memory_order_relaxed) ? 0 : l.out.room();
}

commit_log::need commit_log::need_of(uint32_t lane,
                                     std::span<const log_range> records) const noexcept {
  const auto with = [&](uint64_t first) {
    need n{1, 0, first};
    n.bytes += divide(
        records, first, [](const log_range&, uint64_t, uint64_t) {},
        [&](uint64_t bytes) {
          ++n.frames;
          n.bytes += bytes;
        });
    return n;
  };
  const uint64_t room = room_of(stream_of(lane));
  const need n = with(0);
  // A single frame that fits is not cut, however little room it leaves.
  if (n.frames == 1 && n.bytes <= room) return {1, n.bytes, layout_.frame_max()};
  return room >= split_min() && room >= 512 ? with(room) : n;
}

bool commit_log::has_room(uint32_t lane, std::span<const log_range> records) {
  uint64_t bytes = sizeof(format::frame_head);
  for (const log_range& r : records)
    bytes += sizeof(format::log_record) + (r.bytes == nullptr ? 0 : round_up(r.length, 8));
  lane = stream_of(lane);
  // Not so near the end that divide() would cut it.
  if (bytes + record_part_min > layout_.frame_max() || bytes > room_of(lane)) return false;
  lane_end& l = lanes_[lane];
  l.image.reserve(bytes + log::line_size);
  l.first = layout_.frame_max();
  l.whole = true;
  return true;
}

bool commit_log::make_room(uint32_t lane, const need& n) {
  lane = stream_of(lane);
  lane_end& l = lanes_[lane];
  l.image.reserve(std::min(n.bytes, layout_.frame_max()) + log::line_size);
  if (!take(lane, n.frames - (n.first != 0 ? 1 : 0))) return false;
  l.first = n.first;
  l.whole = false;
  return true;
}

// Segments that are neither free nor the checkpoint's: full, or taken and about to be full
// (CLOG-6).
size_t commit_log::to_come() const {
  size_t n = taken_;
  for (const use& u : uses_)
    if (!u.in_use && !u.of_checkpoint && u.last != 0) ++n;
  return n;
}

bool commit_log::will_have_room(const need& n) {
  const size_t segments = n.frames - (n.first != 0 ? 1 : 0);
  const locked turn(mutex_);
  return segments + std::max(kept_back_, of_checkpoint_) <=
         free_.size() + of_checkpoint_ + to_come();
}

// Takes so many segments for the lane. It keeps those that it does not use now.
bool commit_log::take(uint32_t lane, size_t segments) {
  std::vector<size_t>& taken = lanes_[lane].taken;
  if (segments <= taken.size()) return true;
  const size_t more = segments - taken.size();
  taken.reserve(segments);
  const locked turn(mutex_);
  const bool checkpoints = lane == checkpoint_lane();
  const size_t kept = kept_back_ <= of_checkpoint_ ? 0 : kept_back_ - of_checkpoint_;
  if (free_.size() < (checkpoints ? more : more + kept)) return false;
  if (checkpoints && more > kept) return false;
  for (size_t i = 0; i < more; ++i) {
    uses_[free_.back()].of_checkpoint = checkpoints;
    taken.push_back(free_.back());
    free_.pop_back();
  }
  (checkpoints ? of_checkpoint_ : taken_) += more;
  lanes_[lane].has += more;
  busy_.fetch_add(more, std::memory_order_relaxed);
  return true;
}

void commit_log::begin_next(medium::writer& w, uint32_t lane, uint64_t before) noexcept {
  lane_end& l = lanes_[lane];
  const size_t next = l.taken.back();
  l.taken.pop_back();
  const locked turn(mutex_);
  if (!uses_[next].of_checkpoint) --taken_;
  if (l.in) {
    use& left = uses_[*l.in];
    left.in_use = false;
    --l.has;
    // Only void frames may be left in it.
    if (left.last <= truncation_point()) put_free(*l.in);
  }
  uses_[next].in_use = true;
  uses_[next].last = 0;
  uses_[next].lane = lane;
  begun_.fetch_add(1, std::memory_order_relaxed);
  l.leaves.store(false, std::memory_order_relaxed);
  l.in = next;
  l.out.begin(w, uses_[next].where, ++generation_, truncation_point(), before);
}

// CLOG-4
void commit_log::leave_added(uint32_t lane) noexcept {
  lane_end& l = lanes_[lane];
  const locked turn(mutex_);
  uses_[*l.in].in_use = false;
  --l.has;
  if (uses_[*l.in].last <= truncation_point()) put_free(*l.in);
  l.in.reset();
  l.out.end();
}

void commit_log::append(medium::writer& w, uint32_t lane, std::span<const log_range> records,
                        uint32_t flags, uint64_t lsn, uint64_t transaction) noexcept {
  medium::writer& to = way(w, lane);
  lane = stream_of(lane);
  lane_end& l = lanes_[lane];
  // No frame of this LSN is fenced yet.
  const uint64_t before = l.fenced.load(std::memory_order_relaxed);
  if (l.first == 0) begin_next(to, lane, before);
  uint32_t part = 0;
  const auto put = [&](uint32_t more) {
    // Other threads read it (look_at()).
    std::atomic_ref(uses_[*l.in].last).store(lsn, std::memory_order_relaxed);
    l.out.append(to, l.image, flags | more | part << frame_part_shift, lsn, transaction);
  };
  log::segment_writer::start(l.image);
  if (l.whole) {
    for (const log_range& r : records)
      log::add_record(l.image, r.kind, r.offset, r.bytes, static_cast<uint32_t>(r.length));
    return put(frame_final);
  }
  divide(
      records, l.first,
      [&](const log_range& r, uint64_t from, uint64_t n) {
        log::add_record(l.image, r.kind, r.offset + from,
                        r.bytes == nullptr ? nullptr : r.bytes + from, static_cast<uint32_t>(n));
      },
      [&](uint64_t) {
        put(0);
        ++part;
        begin_next(to, lane, before);
        log::segment_writer::start(l.image);
      });
  put(frame_final);
}

commit_log::lack commit_log::keep_back(size_t segments, size_t others) {
  const locked turn(mutex_);
  if (segments > to_keep_) {
    // Segments that it took when it kept more may still be needed for a while.
    const size_t kept =
        std::max(kept_back_, of_checkpoint_ > to_keep_ ? of_checkpoint_ + segments : segments);
    size_t wanted = kept > of_checkpoint_ ? kept - of_checkpoint_ : 0;
    for (uint32_t lane = 0; lane < checkpoint_lane(); ++lane)
      wanted += others - std::min(others, lanes_[lane].has);
    if (wanted > free_.size()) return {wanted - free_.size(), to_come()};
    kept_back_ = kept;
  }
  to_keep_ = segments;
  keep_fewer();
  return {};
}

void commit_log::write_truncation_point(medium::writer& w, uint64_t lsn) noexcept {
  SCUTE_ASSERT(lsn >= written_);
  if (lsn == written_ && is_written_) return;
  written_ = lsn;
  is_written_ = true;
  stream_truncation_point(s_, location_, way(w, checkpoint_lane()),
                          {lsn, static_cast<uint32_t>(++writes_ % 2)});
}

bool commit_log::repeat_truncation_point(medium::writer& w) noexcept {
  if (written_ == 0 || look_at_truncation_point(s_, location_) == truncation_words::alike)
    return false;
  stream_truncation_point(s_, location_, way(w, checkpoint_lane()),
                          {written_, static_cast<uint32_t>(++writes_ % 2)});
  is_written_ = true;
  return true;
}

std::vector<commit_log::truncation_copy> commit_log::truncation_copies() const {
  std::vector<truncation_copy> all;
  truncation_found counts = read_truncation_point(s_, location_);
  if (is_written_) {
    counts = {written_, static_cast<uint32_t>(writes_ % 2)};
  } else {
    // A crash may have left the truncation point in both places, whole in only one of them.
    const auto copies_in = [&](uint32_t which) {
      uint32_t n = 0;
      for (uint32_t r = 0; r < location_.truncation_copies(); ++r) {
        uint64_t words[2];
        n += location_.target().read(location_.truncation_at(which, r), words, sizeof words) &&
                     words[0] == counts.lsn && words[1] == check_of_truncation_point(s_, words[0])
                 ? 1
                 : 0;
      }
      return n;
    };
    counts.place = copies_in(1) > copies_in(0) ? 1 : 0;
  }
  if (counts.lsn == 0) return all;
  for (uint32_t r = 0; r < location_.truncation_copies(); ++r)
    all.push_back({location_.truncation_at(counts.place, r),
                   {counts.lsn, check_of_truncation_point(s_, counts.lsn)}});
  return all;
}

void commit_log::truncation_point_is_durable() noexcept {
  if (durable_.load(std::memory_order_relaxed) == written_) return;
  durable_.store(written_, std::memory_order_relaxed);
  const locked turn(mutex_);
  for (size_t i = 0; i < uses_.size(); ++i) {
    use& u = uses_[i];
    if (u.in_use || u.last == 0 || u.last > written_) continue;
    put_free(i);
  }
}

void commit_log::put_free(size_t segment) {
  use& u = uses_[segment];
  u.last = 0;
  if (std::exchange(u.of_checkpoint, false)) {
    --of_checkpoint_;
    keep_fewer();
  }
  // The last one is taken first.
  if (segment < made_with_)
    free_.push_back(segment);
  else
    free_.insert(free_.begin(), segment);
  busy_.fetch_sub(1, std::memory_order_relaxed);
}

void commit_log::add(const segment_list& longer) {
  const std::vector<log::segment> all = longer.segments(s_.geo);
  const locked turn(mutex_);
  SCUTE_ASSERT(all.size() <= uses_.capacity());
  for (size_t i = uses_.size(); i < all.size(); ++i) {
    uses_.push_back({all[i]});
    free_.insert(free_.begin(), i);
  }
  count_.store(all.size(), std::memory_order_relaxed);
}

bool commit_log::take_off(uint32_t lane, const segment_list& shorter) {
  const size_t rest = shorter.segments(s_.geo).size();
  lane_end& l = lanes_[stream_of(lane)];
  const locked turn(mutex_);
  // These segments may be the ones that are kept for the checkpoint.
  const auto stay = static_cast<size_t>(
      std::ranges::count_if(free_, [rest](size_t i) noexcept { return i < rest; }));
  if (to_keep_ > kept_least || stay + of_checkpoint_ < kept_back_) return false;
  const auto added = [&](size_t i) { return i >= rest; };
  for (size_t i = rest; i < uses_.size(); ++i) {
    if (l.in == i && uses_[i].last <= truncation_point()) continue;
    if (std::ranges::find(l.taken, i) != l.taken.end()) continue;
    if (std::ranges::find(free_, i) == free_.end()) return false;
  }
  if (l.in && added(*l.in)) {
    l.in.reset();
    l.out.end();
    --l.has;
    busy_.fetch_sub(1, std::memory_order_relaxed);
  }
  const auto left = static_cast<size_t>(std::erase_if(l.taken, added));
  busy_.fetch_sub(left, std::memory_order_relaxed);
  taken_ -= left;
  l.has -= left;
  std::erase_if(free_, added);
  uses_.resize(rest);
  count_.store(rest, std::memory_order_relaxed);
  return true;
}

}  // namespace scute::core::engine

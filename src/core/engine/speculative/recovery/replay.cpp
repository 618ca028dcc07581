// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/recovery/replay.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "base/rounding.hpp"
#include "core/engine/common/recovery.hpp"
#include "core/engine/speculative/commit_log.hpp"
#include "core/engine/speculative/log_file/file_pages.hpp"
#include "core/engine/speculative/log_scrubber.hpp"
#include "core/engine/speculative/recovery/gap_detection.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "core/log/segment_reader.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {
namespace {

struct found_frame {
  uint64_t lsn;
  size_t segment;
  uint64_t position;
  bool flawed, behind_gap;
  std::vector<std::byte> lines;  // all of it
  format::frame_head head;
  uint64_t epoch;
  uint32_t lane;

  std::span<const std::byte> body() const noexcept {
    return std::span(lines).subspan(sizeof head, head.size - sizeof head);
  }
};

struct written_range {
  uint64_t lsn, offset, length;
};

// Ranges of placed records, merged as they come, in the order of their LSNs. So every record is
// processed once, and no byte is visited more than twice, whatever a log claims to have placed.
class placed_ranges {
 public:
  // lsn: above all LSNs so far.
  void add(uint64_t begin, uint64_t end, uint64_t lsn) {
    uint64_t lowest = lsn;
    auto at = all_.lower_bound(begin);
    if (at != all_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != all_.end() && at->first < end) {
      const uint64_t from = at->first;
      const range old = at->second;
      at = all_.erase(at);
      lowest = std::min(lowest, old.lowest);
      if (from < begin) all_.emplace(from, range{begin, old.lowest, old.newest});
      if (end < old.end) at = all_.emplace(end, range{old.end, old.lowest, old.newest}).first;
    }
    all_[begin] = {end, lowest, lsn};
  }
  // Calls fn(begin, end) for the parts of a record in which no later placed record lies.
  template <typename Fn>
  void for_each_rest(uint64_t begin, uint64_t end, uint64_t lsn, Fn&& fn) const {
    auto at = all_.upper_bound(begin);
    if (at != all_.begin()) --at;
    for (; at != all_.end() && at->first < end && begin < end; ++at) {
      if (at->second.end <= begin || at->second.newest <= lsn) continue;
      if (begin < at->first) fn(begin, at->first);
      begin = at->second.end;
    }
    if (begin < end) fn(begin, end);
  }
  // Calls fn(begin, end, lowest, newest). The LSNs are bounds for those of the records that lie
  // there.
  template <typename Fn>
  void for_each(Fn&& fn) const {
    for (const auto& [begin, r] : all_) fn(begin, r.end, r.lowest, r.newest);
  }

 private:
  struct range {
    uint64_t end, lowest, newest;
  };
  std::map<uint64_t, range> all_;
};

// The blocks of the file that records lie in. Asking the file system for each record took most of
// the time of an opening, so it is asked once for each part of the file.
class part_places {
 public:
  explicit part_places(const pool::state& s)
      : s_(s),
        part_(std::clamp(std::bit_floor(s.geo.file_size >> 16), format::page, uint64_t{1} << 18)),
        seen_(s.geo.file_size / part_ + 1) {}

  void need(uint64_t offset, uint64_t n) {
    for (uint64_t i = offset / part_; i <= (offset + n - 1) / part_; ++i) {
      if (seen_[i]) continue;
      seen_[i] = true;
      const uint64_t zone = s_.geo.zone_offset(pool::zone_of(s_.geo, offset));
      const uint64_t from = std::max(i * part_, zone);
      pool::fill_holes(s_, from, std::min((i + 1) * part_, zone + s_.geo.data_size) - from);
    }
  }

 private:
  const pool::state& s_;
  // A chunk of a large pool; a page of a small one, whose disk may be as small.
  const uint64_t part_;
  std::vector<bool> seen_;
};

}  // namespace

uint64_t find_truncation_point(const pool::state& s, const log_location& location,
                               const segment_list& list) {
  uint64_t truncation_point = read_truncation_point(s, location).lsn;
  log::segment_reader reader = reader_of(s, location, list.layout());
  for (const log::segment& at : list.segments(s.geo))
    if (const auto head = reader.read_head(at); head && head->truncation_point < lsn_max)
      truncation_point = std::max(truncation_point, head->truncation_point);
  return truncation_point;
}

uint64_t highest_frame(const pool::state& s, const log_location& location,
                       const segment_list& list) {
  uint64_t highest = 0;
  log::segment_reader reader = reader_of(s, location, list.layout());
  for (const log::segment& at : list.segments(s.geo))
    if (reader.read_head(at))
      reader.read(at, [&](const log::frame& f) { highest = std::max(highest, f.head.sequence); });
  return highest;
}

replayed replay(pool::state& s, medium::writer& w, log_location& location, const segment_list& list,
                tx::recovery_watch* watch) {
  replayed r;
  const std::vector<log::segment> segments = list.segments(s.geo);
  r.truncation_point = find_truncation_point(s, location, list);
  r.highest = r.truncation_point;
  r.last_frames.resize(segments.size());
  std::vector<found_frame> frames;
  std::vector<format::segment_head> heads(segments.size());
  log::segment_reader reader = reader_of(s, location, list.layout());
  std::vector<log::segment_contents> contents;
  for (size_t i = 0; i < segments.size(); ++i) {
    const log::segment_contents c = reader.read(segments[i], [&](const log::frame& f) {
      if (f.head.sequence <= r.truncation_point) return;
      frames.push_back({f.head.sequence,
                        i,
                        f.position,
                        f.flawed,
                        f.behind_gap,
                        {f.lines.begin(), f.lines.end()},
                        f.head,
                        0,
                        0});
      r.highest = std::max(r.highest, f.head.sequence);
    });
    contents.push_back(c);
    if (c.head) heads[i] = *c.head;
    for (auto f = frames.rbegin(); f != frames.rend() && f->segment == i; ++f) {
      f->epoch = c.head->epoch;
      f->lane = c.head->lane;
    }
  }
  require_lsn(s, r.highest);
  std::ranges::stable_sort(frames, [](const found_frame& a, const found_frame& b) {
    return std::tuple(a.lsn, a.epoch, a.lane, a.head.flags >> frame_part_shift) <
           std::tuple(b.lsn, b.epoch, b.lane, b.head.flags >> frame_part_shift);
  });
  // Parts of an undecided transaction are no records.
  std::vector<const found_frame*> counting;
  std::vector<frame_seen> seen;
  for (size_t i = 0; i < frames.size();) {
    size_t end = i;
    uint32_t part = 0;
    bool complete = false;
    const auto same = [&](const found_frame& a, const found_frame& b) {
      return a.lsn == b.lsn && a.epoch == b.epoch && a.lane == b.lane;
    };
    for (; end < frames.size() && same(frames[i], frames[end]); ++end) {
      if (frames[end].head.flags >> frame_part_shift == part) ++part;
      complete = (frames[end].head.flags & frame_final) != 0 && part == end - i + 1;
    }
    for (size_t k = i; k < end && complete; ++k) counting.push_back(&frames[k]);
    for (size_t k = i; k < end; ++k) {
      const found_frame& f = frames[k];
      seen.push_back({f.segment, f.position, f.lines.size(), f.lsn, f.epoch, f.lane, f.flawed,
                      f.behind_gap, complete});
    }
    if (complete && (frames[i].head.flags & frame_step) == 0) ++r.report.completed;
    i = end;
  }
  // Every record is tested, and has its place, before the first one is written.
  const auto allowed = [&](uint64_t offset, uint64_t n) { return s.geo.in_data(offset, n); };
  const auto each = [&](const found_frame& f, const log::record_fn& fn) {
    if (!log::for_each_record(f.body(), allowed, fn))
      throw failure(
          SCUTE_E_CORRUPT,
          s.path + ": a record of the log is inconsistent; restore the pool from a backup");
  };
  part_places places(s);
  placed_ranges placed;
  std::vector<written_range> written;
  for (const found_frame* f : counting)
    each(*f, [&](format::record_kind, uint64_t offset, const std::byte* bytes, uint32_t n) {
      if (n == 0) return;
      if (bytes == nullptr) return placed.add(offset, offset + n, f->lsn);
      places.need(offset, n);
      written.push_back({f->lsn, offset, n});
    });
  placed.for_each([&](uint64_t begin, uint64_t end, uint64_t lowest, uint64_t newest) {
    places.need(begin, end - begin);
    written.push_back({lowest, begin, end - begin});
    if (newest != lowest) written.push_back({newest, begin, end - begin});
  });
  std::ranges::stable_sort(written, {}, &written_range::lsn);
  for (const written_range& x : written) r.written.add(x.offset, x.length, x.lsn);
  // REPLAY-1
  const log::segment_layout layout = list.layout();
  medium::writer own(location.target());
  medium::writer& to = location.is_apart() ? own : w;
  const auto keep = [&](size_t segment, uint64_t position, std::span<const std::byte> lines,
                        bool flawed) {
    layout.for_each_store(
        position, lines, [&](uint32_t copy, uint64_t offset, const std::byte* from, size_t n) {
          std::byte* const at = location.target().base() + segments[segment].at[copy] + offset;
          // Everything that is known in a file of its own is what this session has written again.
          if (flawed || location.is_apart())
            to.stream(at, from, n, medium::purpose::log);
          else
            to.flush(at, n, medium::purpose::log);
        });
  };
  // This reads the heads and frames as they were found, so it comes before anything is stored
  // there.
  report_damage(s, location, list, r.truncation_point, seen, contents);
  // LOGFILE-5: lanes will append also where nothing that counts is stored.
  uint64_t renewed = 0;
  if (location.is_apart())
    for (const log::segment& at : segments)
      for (uint32_t copy = 0; copy < layout.copies(); ++copy)
        renewed += renew_lost_pages(to, at.at[copy], at.at[copy] + layout.size());
  size_t last = segments.size();
  for (const found_frame* f : counting) {
    r.last_frames[f->segment] = std::max(r.last_frames[f->segment], f->lsn);
    // The segment's head says whose frame it is.
    if (f->segment != last)
      keep(f->segment, 0, std::as_bytes(std::span(&heads[f->segment], 1)), true);
    last = f->segment;
    keep(f->segment, f->position, f->lines, f->flawed);
  }
  if (!counting.empty() || renewed != 0) {
    to.fence(fence_site::replay_log);
    if (location.target().failed()) s.medium->fail_with(location.target().failure());
    s.require_healthy();
  }
  std::optional<lent_before_replay> lent(s);
  if (watch != nullptr) watch->replay_begins();
  // Where the medium has the bytes (a placed record), no older record may be stored.
  placed.for_each([&](uint64_t begin, uint64_t end, uint64_t, uint64_t) {
    w.flush(s.at(begin), end - begin, medium::purpose::data);
  });
  for (const found_frame* f : counting)
    each(*f, [&](format::record_kind, uint64_t offset, const std::byte* bytes, uint32_t n) {
      if (bytes == nullptr) return;
      placed.for_each_rest(offset, offset + n, f->lsn, [&](uint64_t begin, uint64_t end) {
        w.stream(s.at(begin), bytes + (begin - offset), end - begin, medium::purpose::data);
      });
    });
  overlay_lent(s, lent, nullptr);
  // UNRES-1
  w.fence(fence_site::spec_replay);
  s.require_healthy();
  if (watch != nullptr) watch->parity_begins(r.written.ranges);
  return r;
}

}  // namespace scute::core::engine

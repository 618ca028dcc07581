// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_scrubber.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/rounding.hpp"
#include "core/engine/speculative/log_file/file_pages.hpp"
#include "core/engine/speculative/recovery/gap_detection.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::engine {

// In a session that only reads, memory counts: its private copy has bytes that the file lacks. (A
// log in a file of its own is not mapped privately.)
log::segment_reader reader_of(const pool::state& s, const log_location& location,
                              const log::segment_layout& layout) {
  const bool in_memory = s.read_only && !location.is_apart();
  return {layout, s.salt,
          [&m = location.target(), in_memory](uint64_t offset, std::byte* to, size_t n) {
            // One lost page must not hide the others.
            for (size_t done = 0; done < n; done += format::page)
              if (!m.read(offset + done, to + done, format::page)) return false;
            if (!in_memory) return true;
            const pool::optimistic_reads mark;  // frames under way have no checksum yet
            std::memcpy(to, m.base() + offset, n);
            return true;
          }};
}

log_scrubber::log_scrubber(pool::state& s, log_location& location, commit_log& log, checkpoint& f,
                           log_room& room)
    : s_(s),
      location_(location),
      log_(log),
      checkpoint_(f),
      room_(room),
      w_(location.target()),
      reader_(reader_of(s, location, log.layout())) {}

// A page of a file that cannot be read cannot be written in part either. The pages of the pool
// itself were made readable before.
bool log_scrubber::can_store(const log::segment& where, uint64_t position,
                             std::span<const std::byte> lines) const {
  bool can = true;
  if (location_.is_apart())
    log_.layout().for_each_store(position, lines,
                                 [&](uint32_t copy, uint64_t offset, const std::byte*, size_t n) {
                                   const uint64_t begin = where.at[copy] + offset;
                                   for (uint64_t page = round_down(begin, format::page);
                                        page < begin + n; page += format::page)
                                     can = can && is_readable(location_.target(), page);
                                 });
  return can;
}

// For a segment in which nothing counts.
void log_scrubber::renew_lost_pages(const log::segment& where, const tx::log_finding_fn& report) {
  for (uint32_t c = 0; c < log_.layout().copies(); ++c)
    engine::renew_lost_pages(w_, where.at[c], where.at[c] + log_.layout().size(),
                             [&](uint64_t page) {
                               wrote_ = true;
                               if (report)
                                 report({"page of the log file", page, format::page, true});
                             });
}

// LOGSCRUB-1, LOGSCRUB-2
log_scrubber::seen log_scrubber::look_at(size_t segment, bool repair,
                                         const tx::log_finding_fn& report) {
  seen result;
  log_.look_at(
      segment, [&](const commit_log::live_segment& x) { result = look_at(x, repair, report); },
      [&](const log::segment& where) {
        if (!repair) return;
        if (location_.is_apart()) renew_lost_pages(where, report);
        if (is_misleading(s_, location_, log_.layout(), where)) {
          const std::byte nothing[log::line_size] = {};
          log::store_lines(w_, location_.target().base(), log_.layout(), where, 0, nothing);
          wrote_ = true;
        }
        // Before any lane begins the segment. end() asks whether the fence has failed.
        if (wrote_) w_.fence(fence_site::log_scrub);
      });
  return result;
}

log_scrubber::seen log_scrubber::look_at(const commit_log::live_segment& x, bool repair,
                                         const tx::log_finding_fn& report) {
  struct damaged {
    uint64_t position;
    std::vector<std::byte> lines;
  };
  seen result;
  // A session that only reads stores nothing of a log in a file of its own.
  if (x.head != nullptr && s_.read_only && location_.is_apart()) return result;
  if (x.last > x.fenced || x.last == 0) result.is = condition::under_way;
  std::vector<damaged> found;
  bool any = x.last != 0 && x.last <= x.fenced, last = false;
  const uint64_t truncation_point = log_.truncation_point();
  bool gaps = false, gaps_of_void = false;
  const log::segment_contents c = reader_.read(x.where, [&](const log::frame& f) {
    if (f.head.sequence > x.fenced) return;
    if (x.head == nullptr && f.head.sequence > x.last) return;  // a crash has left it undecided
    any = true;
    last = last || f.head.sequence == x.last;
    gaps_of_void = gaps_of_void || f.behind_gap;
    if (f.head.sequence <= truncation_point) return;
    gaps = gaps || f.behind_gap;
    if (f.flawed) found.push_back({f.position, {f.lines.begin(), f.lines.end()}});
  });
  // Where an earlier session's checkpoint had appended, or its lanes to a shared stream, one fence
  // was to cover several frames (GAP-1).
  const bool grouped = x.head == nullptr && c.head &&
                       (c.head->lane == log_.checkpoint_lane() ||
                        (location_.is_apart() && c.head->epoch != s_.sb.epoch));
  result.missing = (gaps && !grouped) || (x.needed && x.last <= x.fenced && !last);
  // A segment that a lane still uses must have its head. Other segments can do with the copies that
  // are left, until they are void.
  const format::segment_head* const head = x.head != nullptr ? x.head : c.head ? &*c.head : nullptr;
  if (any && c.head_flawed && head != nullptr) {
    const auto bytes = std::as_bytes(std::span(head, 1));
    found.push_back({0, {bytes.begin(), bytes.end()}});
  }
  for (const damaged& d : found) {
    const uint64_t at = x.where.at[0] + log_.layout().offset_of(d.position);
    if (repair && can_store(x.where, d.position, d.lines)) {
      log::store_lines(w_, location_.target().base(), log_.layout(), x.where, d.position, d.lines);
      wrote_ = true;
    } else if (repair) {
      result.missing = true;
      continue;
    }
    if (report && !grouped)
      report({location_.is_apart() ? "record in the log file" : "log record", at, d.lines.size(),
              repair});
  }
  // LOGSCRUB-5
  const bool has_gap =
      result.missing || gaps_of_void || (x.last != 0 && x.last <= x.fenced && !last);
  if (has_gap && repair && x.head != nullptr) log_.leave_segment(x.lane);
  if (result.missing && report)
    report({location_.is_apart() ? "segment of the log file" : "log segment", x.where.at[0],
            log_.layout().size(), repair});
  return result;
}

void log_scrubber::store_again(uint64_t offset, std::span<const std::byte> bytes, const char* what,
                               bool repair, const tx::log_finding_fn& report) {
  std::byte* const at = location_.target().base() + offset;
  std::vector<std::byte> there(location_.is_apart() ? uint64_t{format::page} : 0);
  const uint64_t in_page = offset % format::page;
  if (!location_.is_apart()) {
    if (std::memcmp(at, bytes.data(), bytes.size()) == 0) return;
  } else if (location_.target().read(offset - in_page, there.data(), there.size())) {
    if (std::memcmp(there.data() + in_page, bytes.data(), bytes.size()) == 0) return;
    there.clear();
  } else {
    // The page is written as a whole; nothing else in it counts.
    std::ranges::fill(there, std::byte{0});
    std::ranges::copy(bytes, there.begin() + static_cast<ptrdiff_t>(in_page));
  }
  if (repair && there.empty()) {
    w_.stream(at, bytes.data(), bytes.size(), medium::purpose::log);
    wrote_ = true;
  } else if (repair) {
    w_.stream(at - in_page, there.data(), there.size(), medium::purpose::log);
    wrote_ = true;
  }
  if (report) report({what, offset, bytes.size(), repair});
}

void log_scrubber::look_at_list(bool repair, const tx::log_finding_fn& report) {
  room_.with_list([&](const segment_list& list) {
    const char* const what = location_.is_apart() ? "head of the log file" : "list of log segments";
    for (const log_location::list_copy& c : location_.list_copies(list))
      store_again(c.offset, c.bytes, what, repair, report);
    end();
  });
}

void log_scrubber::look_at_truncation_point(bool repair, const tx::log_finding_fn& report) {
  checkpoint_.while_it_rests([&] {
    for (const commit_log::truncation_copy& c : log_.truncation_copies())
      store_again(
          c.offset, std::as_bytes(std::span(c.words)),
          location_.is_apart() ? "truncation point in the log file" : "log truncation point",
          repair, report);
    end();
  });
}

void log_scrubber::end() {
  if (!std::exchange(wrote_, false)) return;
  w_.fence(fence_site::log_list_scrub);
  if (location_.target().failed()) s_.medium->fail_with(location_.target().failure());
  s_.require_healthy();
}

// LOGSCRUB-3. Segments that are void afterwards are looked at again: noise in them would be
// reported as a loss after a crash.
void log_scrubber::checkpoint_all() {
  checkpoint_.all();
  for (size_t i = 0; i < log_.segments(); ++i) look_at(i, true, nullptr);
  end();
}

void log_scrubber::look(bool repair, const tx::log_finding_fn& report) {
  if (!s_.read_only && !location_.is_apart()) {
    touch_lost_pages();
    // Lost pages of the pool were reported when they became readable.
    if (s_.lost_log.pending()) repair_lost_pages();
  }
  const locked turn(mutex_);
  look_at_list(repair, report);
  look_at_truncation_point(repair, report);
  bool missing = false;
  for (size_t i = 0; i < log_.segments(); ++i)
    missing = look_at(i, repair, report).missing || missing;
  end();
  if (missing && repair) checkpoint_all();
}

// LOGSCRUB-4
void log_scrubber::repair_heads() {
  const auto report = [&](const tx::log_finding& f) {
    s_.repaired.fetch_add(1, std::memory_order_relaxed);
    s_.events.post({SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED, scute_finder{}, f.offset, f.length});
  };
  const locked turn(mutex_);
  look_at_list(true, report);
  look_at_truncation_point(true, report);
}

// A read through the file would not cause the fault that makes these pages readable.
void log_scrubber::touch_lost_pages() {
  const auto touch = [&](uint64_t begin, uint64_t length) {
    for (uint64_t page = begin; page < begin + length; page += format::page) {
      std::byte probe{};
      if (s_.medium->read(page, &probe, 1)) continue;
      static_cast<void>(*static_cast<const volatile std::byte*>(s_.at(page)));
    }
  };
  for (size_t i = 0; i < log_.segments(); ++i)
    log_.look_at(
        i,
        [&](const commit_log::live_segment& x) {
          for (uint32_t c = 0; c < log_.layout().copies(); ++c)
            touch(x.where.at[c], log_.layout().size());
        },
        [](const log::segment&) {});
}

bool log_scrubber::repair_lost_pages() {
  const locked turn(mutex_);
  std::vector<uint64_t> pages;
  pages.reserve(64);
  const bool all = s_.lost_log.take([&](uint64_t page) { pages.push_back(page); });
  // Pages that are left over after the log has moved out of the pool have no owner.
  if ((pages.empty() && all) || location_.is_apart()) return true;
  std::vector<log::segment> where;
  room_.with_list([&](const segment_list& list) { where = list.segments(s_.geo); });
  bool missing = false, done = true;
  const uint64_t size = log_.layout().size();
  for (size_t i = 0; i < where.size(); ++i) {
    const auto hit = [&](uint64_t page) {
      for (uint32_t c = 0; c < log_.layout().copies(); ++c)
        if (page - where[i].at[c] < size) return true;
      return false;
    };
    if (all && std::ranges::none_of(pages, hit)) continue;
    const seen x = look_at(i, true, nullptr);
    missing = missing || x.missing;
    if (x.is == condition::under_way) {
      done = false;
      s_.lost_log.add(where[i].at[0]);
    }
  }
  end();
  if (missing) checkpoint_all();
  return done;
}

void log_scrubber::for_each_live(const std::function<void(uint64_t offset, uint64_t length)>& fn) {
  if (location_.is_apart()) return;
  for (size_t i = 0; i < log_.segments(); ++i)
    log_.look_at(
        i,
        [&](const commit_log::live_segment& x) {
          for (uint32_t c = 0; x.needed && c < log_.layout().copies(); ++c)
            fn(x.where.at[c], log_.layout().size());
        },
        [](const log::segment&) {});
}

}  // namespace scute::core::engine

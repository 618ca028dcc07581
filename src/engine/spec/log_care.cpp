// SPDX-License-Identifier: BSD-3-Clause
#include "engine/spec/log_care.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/spec/log_evidence.hpp"

namespace scute::core::engine {

log::segment_reader reader_of(const pool::state& s, const log::segment_layout& layout) {
  return {layout, s.salt, [&s](uint64_t offset, std::byte* to, size_t n) {
            // One lost page must not hide the others.
            for (size_t done = 0; done < n; done += format::page)
              if (!s.medium->read(offset + done, to + done, format::page)) return false;
            return true;
          }};
}

log_care::log_care(pool::state& s, commit_log& log, fold& f, log_room& room)
    : s_(s), log_(log), fold_(f), room_(room), w_(*s.medium), reader_(reader_of(s, log.layout())) {}

// CARE-1, CARE-2
log_care::seen log_care::look_at(size_t segment, bool repair, const tx::log_finding_fn& tell) {
  seen result;
  log_.look_at(
      segment, [&](const commit_log::live_segment& x) { result = look_at(x, repair, tell); },
      [&](const log::segment& where) {
        if (!repair || !is_misleading(s_, log_.layout(), where)) return;
        const std::byte nothing[log::line_size] = {};
        log::store_lines(w_, s_.medium->base(), log_.layout(), where, 0, nothing);
        w_.fence(fence_site::log_care);
      });
  return result;
}

log_care::seen log_care::look_at(const commit_log::live_segment& x, bool repair,
                                 const tx::log_finding_fn& tell) {
  struct damaged {
    uint64_t position;
    std::vector<std::byte> lines;
  };
  seen result;
  if (x.last > x.fenced || x.last == 0) result.is = condition::under_way;
  std::vector<damaged> found;
  bool any = x.last != 0 && x.last <= x.fenced, last = false;
  const uint64_t horizon = log_.horizon();
  const log::segment_contents c = reader_.read(x.where, [&](const log::frame& f) {
    if (f.head.sequence > x.fenced) return;
    any = true;
    last = last || f.head.sequence == x.last;
    if (f.head.sequence <= horizon) return;
    result.missing = result.missing || f.behind_gap;
    if (f.flawed) found.push_back({f.position, {f.lines.begin(), f.lines.end()}});
  });
  result.missing = result.missing || (x.needed && x.last <= x.fenced && !last);
  // What a lane goes on with it must have; of others what is left of them will do until they are void.
  const format::segment_head* const head = x.head != nullptr ? x.head : c.head ? &*c.head : nullptr;
  if (any && c.head_flawed && head != nullptr) {
    const auto bytes = std::as_bytes(std::span(head, 1));
    found.push_back({0, {bytes.begin(), bytes.end()}});
  }
  for (const damaged& d : found) {
    const uint64_t at = x.where.at[0] + log_.layout().offset_of(d.position);
    if (repair) {
      log::store_lines(w_, s_.medium->base(), log_.layout(), x.where, d.position, d.lines);
      wrote_ = true;
    }
    if (tell) tell({"log record", at, d.lines.size(), repair});
  }
  if (result.missing && repair && x.head != nullptr) log_.leave_segment(x.lane);
  if (result.missing && tell) tell({"log segment", x.where.at[0], log_.layout().size(), repair});
  return result;
}

void log_care::store_again(uint64_t offset, std::span<const std::byte> bytes, const char* what,
                           bool repair, const tx::log_finding_fn& tell) {
  if (std::memcmp(s_.at(offset), bytes.data(), bytes.size()) == 0) return;
  if (repair) {
    w_.stream(s_.at(offset), bytes.data(), bytes.size(), medium::purpose::log);
    wrote_ = true;
  }
  if (tell) tell({what, offset, bytes.size(), repair});
}

void log_care::look_at_list(bool repair, const tx::log_finding_fn& tell) {
  room_.with_list([&](const segment_list& list) {
    const std::vector<std::byte> image = list_image(s_, list);
    for (const uint64_t at : list_copies(s_, list))
      store_again(at, image, "list of log segments", repair, tell);
    end();
  });
}

void log_care::look_at_horizon(bool repair, const tx::log_finding_fn& tell) {
  fold_.while_it_rests([&] {
    for (const commit_log::horizon_copy& c : log_.horizon_copies())
      store_again(c.offset, std::as_bytes(std::span(c.words)), "log horizon", repair, tell);
    end();
  });
}

void log_care::end() {
  if (!std::exchange(wrote_, false)) return;
  w_.fence(fence_site::log_list_care);
  s_.require_healthy();
}

// CARE-3. What is void then is looked at once more, since noise there would be told as a loss after a crash.
void log_care::fold_all() {
  fold_.all();
  for (size_t i = 0; i < log_.segments(); ++i) look_at(i, true, nullptr);
  end();
}

void log_care::look(bool repair, const tx::log_finding_fn& tell) {
  if (!s_.read_only) {
    touch_lost_pages();
    // Of these it was told when they became readable.
    if (s_.lost_log.pending()) mend_lost_pages();
  }
  const locked turn(mutex_);
  look_at_list(repair, tell);
  look_at_horizon(repair, tell);
  bool missing = false;
  for (size_t i = 0; i < log_.segments(); ++i)
    missing = look_at(i, repair, tell).missing || missing;
  end();
  if (missing && repair) fold_all();
}

// Whoever reads them through the file would never bring the fault about that makes them readable.
void log_care::touch_lost_pages() {
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

bool log_care::mend_lost_pages() {
  const locked turn(mutex_);
  std::vector<uint64_t> pages;
  pages.reserve(64);
  const bool all = s_.lost_log.take([&](uint64_t page) { pages.push_back(page); });
  if (pages.empty() && all) return true;
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
  if (missing) fold_all();
  return done;
}

void log_care::for_each_live(const std::function<void(uint64_t offset, uint64_t length)>& fn) {
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

// SPDX-License-Identifier: BSD-3-Clause
#include "rainmaker.hpp"

#include "check_call.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace scute_campaign {

namespace {

constexpr uint64_t page = 4096;

// Keeps what was lost first.
void note_loss(void* arg, const char* what, uint64_t offset, uint64_t length, scute_oid object,
               int repaired) {
  auto* text = static_cast<std::string*>(arg);
  if (repaired == 0 && text->empty())
    *text = fmt::format("{} at {:#x}, {} bytes, object {:#x}", what, offset, length,
                        object & 0xffff'ffff'ffffu);
}

}  // namespace

rainmaker::rainmaker(live_state& state) : s_(state), random_(mix(state.how.seed, 0x4a14)) {
  info_ = sized<scute_info>();
  need(scute_pool_info(s_.pool, &info_));
}

bool rainmaker::place(scute_injury kind, uint64_t offset, uint64_t length) {
  scute_location first = sized<scute_location>(), last = sized<scute_location>();
  need(scute_locate(s_.pool, offset, &first));
  need(scute_locate(s_.pool, offset + length - 1, &last));
  std::pair<uint64_t, uint64_t> where;
  switch (first.region) {
    case SCUTE_REGION_OBJECT:
    case SCUTE_REGION_FREE:
    case SCUTE_REGION_PARITY:
    case SCUTE_REGION_LOG:
    case SCUTE_REGION_ZONE_HEADER:
    case SCUTE_REGION_CHUNK_HEADER:
      // Nothing shows which cell of a column is wrong, unless a page says so itself. (Of a damaged
      // header its checksum does, but not any more when a step has rewritten it.)
      if (s_.how.level != SCUTE_PROTECT_MLPC && kind != SCUTE_INJURE_LOSE_PAGE) return false;
      if (last.zone != first.zone || last.row != first.row ||
          last.column / page != first.column / page)
        return false;
      where = {first.zone, first.column / page};
      break;
    case SCUTE_REGION_SUPERBLOCK:
    case SCUTE_REGION_NOTES:
    case SCUTE_REGION_LANE:  // one of the copies
      if (offset / page != (offset + length - 1) / page) return false;
      where = {UINT64_MAX, first.region == SCUTE_REGION_LANE ? 1 : 0};
      break;
    case SCUTE_REGION_PADDING: return false;
  }
  return open_.insert(where).second;
}

void rainmaker::strike(const scute_injection& what) {
  uint64_t done = 0;
  int code = SCUTE_OK;
  {
    std::unique_lock pouring(s_.rain, std::defer_lock);
    if (what.kind != SCUTE_INJURE_LOSE_PAGE || s_.how.wild) pouring.lock();
    code = scute_inject(s_.pool, &what, nullptr, nullptr, &done);
  }
  if (code != SCUTE_OK) {
    if (!s_.how.wild) s_.broken(fmt::format("injecting: {}", scute_errormsg()));
    return;
  }
  live_result& r = s_.result;  // these fields are this thread's alone
  (what.kind == SCUTE_INJURE_FLIP       ? r.flips
   : what.kind == SCUTE_INJURE_SCRIBBLE ? r.scribbles
                                        : r.pages) += done;
}

void rainmaker::shower() {
  // If two pages of a column are lost, a thread that reads them through a pointer gets a signal; at
  // mlpc a verified read reports the loss before.
  const bool pages = s_.how.pages && (!s_.how.wild || s_.how.level == SCUTE_PROTECT_MLPC);
  constexpr uint32_t widths[] = {1, 8, 16, 32, 64};
  for (uint64_t n = 5 + random_.below(40); n != 0 && !s_.stop; --n) {
    scute_injection what;
    scute_injection_init(&what);
    // Below mlpc little else than pages can be repaired.
    const uint64_t kind = random_.below(s_.how.level == SCUTE_PROTECT_MLPC ? 10 : 30);
    what.kind = kind < 6             ? SCUTE_INJURE_FLIP
                : kind < 8 || !pages ? SCUTE_INJURE_SCRIBBLE
                                     : SCUTE_INJURE_LOSE_PAGE;
    // Mostly where the objects are; those lie in the first half of the rows.
    const uint64_t end = info_.size / (random_.one_in(3) ? 1 : 2);
    what.bits = widths[random_.below(std::size(widths))];
    what.length = random_.size(1, page);
    what.seed = random_.word();
    const uint64_t wide = what.kind == SCUTE_INJURE_SCRIBBLE ? what.length : 8;
    what.offset = random_.below((end - wide) / 8) * 8;
    if (what.kind == SCUTE_INJURE_LOSE_PAGE) what.offset = what.offset / page * page;
    const uint64_t length = what.kind == SCUTE_INJURE_LOSE_PAGE ? page : wide;
    if (s_.how.wild || place(what.kind, what.offset, length)) strike(what);
    if (random_.one_in(4))
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(500)));
  }
}

void rainmaker::repair(bool while_working) {
  scute_report r = sized<scute_report>();
  std::string loss;
  int code = SCUTE_OK;
  if (while_working) {
    scute_scrub_options o;
    scute_scrub_options_init(&o);
    o.threads = 1;
    o.finding = note_loss;
    o.arg = &loss;
    code = scute_scrub(s_.pool, &o, &r);
    ++s_.result.scrubs;
  } else {
    const std::unique_lock resting(s_.rest);
    code = scute_check(s_.pool, 1, &r, note_loss, nullptr, &loss);
    ++s_.result.checks;
  }
  if (code != SCUTE_OK) {
    if (!s_.how.wild) s_.broken(fmt::format("repair: {}", scute_errormsg()));
    return;
  }
  s_.result.repaired += r.repaired;
  if (r.lost != 0 && !s_.how.wild)
    s_.broken(fmt::format("{} lost {} of {} damaged, at first: {}",
                          while_working ? "a scrub" : "a check", r.lost, r.damaged, loss));
  // Places that commits kept a scrub from examining are damaged still.
  if (r.complete != 0 && r.repaired + r.lost >= r.damaged) open_.clear();
}

void rainmaker::run() {
  for (uint64_t round = 0; !s_.stop; ++round) {
    shower();
    // Some time for accesses to find the damage first.
    std::this_thread::sleep_for(std::chrono::microseconds(random_.below(5000)));
    if (!s_.how.wild || random_.one_in(20))
      repair(s_.how.scrubs && (!s_.how.checks || round % 2 != 0));
  }
}

void rainmaker::repair_all() {
  for (int i = 0; i < (s_.how.wild ? 4 : 2); ++i) repair(false);
}

}  // namespace scute_campaign

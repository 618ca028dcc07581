// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/scrubber.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "base/process/thread_signals.hpp"
#include "core/heap/heap.hpp"
#include "core/scrub/replicas.hpp"
#include "core/shared/marks.hpp"
#include "core/shared/pool/library_call.hpp"

namespace scute::core::scrub {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t batch_units = 32;
constexpr size_t tasks_max = 4096;
constexpr uint64_t mark_every_ns = 1'000'000'000;
constexpr uint64_t report_every = uint64_t{4} << 20;

uint64_t now_ns() noexcept {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

uint32_t usable_cpus() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
}

// Gives all other threads precedence. If the system refuses, the thread is an ordinary one.
void yield_to_others() noexcept {
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
  ::setpriority(PRIO_PROCESS, 0, 19);  // of this thread, on Linux
}

}  // namespace

scrubber::scrubber(pool::state& s, heap::heap& h, const scrub_options& o,
                   const std::atomic<bool>& stop)
    : s_(s),
      heap_(h),
      o_(o),
      stop_(stop),
      per_zone_(s.geo.row_size / format::page),
      units_(s.geo.zone_count * (s.geo.row_size / format::page)),
      rate_(o.rate),
      repairer_(s, h, o.repair,
                [this](const finding& f) {
                  if (o_.finding != nullptr)
                    o_.finding(o_.arg, f.what, f.offset, f.length, f.oid, f.repaired ? 1 : 0);
                }),
      zones_(s.geo.zone_count) {}

// The bytes that the walker will read in a unit, in the present state.
uint64_t scrubber::unit_bytes(uint64_t zone, uint64_t block) const noexcept {
  const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
  const uint64_t column = block * format::page;
  const uint64_t rows = end <= column ? 0 : (end - column + s_.geo.row_size - 1) / s_.geo.row_size;
  return (std::min<uint64_t>(rows, s_.geo.rows) + s_.geo.parity) * format::page;
}

void scrubber::run(scute_report& report) {
  const pool::finder_scope as(SCUTE_FINDER_SCRUB);
  const uint64_t begin = now_ns();
  report_ = &report;
  started_ns_ = pool::calendar_ns();
  const format::pool_marks mark = pool::read_marks(s_);
  if (o_.resume && mark.position != 0 && mark.position < units_) {
    first_ = mark.position;
    started_ns_ = mark.started_ns;
  }
  marked_ns_ = begin;
  {
    const locked hold(mutex_);
    next_ = first_;
    for (uint64_t z = 0; z < s_.geo.zone_count; ++z) {
      zones_[z].units_left =
          (z + 1) * per_zone_ - std::clamp(first_, z * per_zone_, (z + 1) * per_zone_);
      total_bytes_ += s_.used_end[z].load() + s_.geo.parity * s_.geo.row_size;
    }
  }
  for (uint64_t u = 0; u < first_; ++u) skipped_bytes_ += unit_bytes(u / per_zone_, u % per_zone_);

  copies();
  const uint32_t wanted = o_.threads == 0 ? usable_cpus() : o_.threads;
  const auto threads = static_cast<uint32_t>(
      std::min<uint64_t>({wanted, 256, (units_ - first_ + batch_units - 1) / batch_units}));
  if (threads <= 1 && !o_.yield)
    work_alone();
  else
    work_together(std::max(1u, threads));
  {
    const locked hold(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

  const uint64_t reached = position();
  // The losses of zones that were left half-way are reported as well.
  for (const uint64_t z : begun_zones()) end_zone(z);
  report.complete = reached >= units_ && repairer_.saw_all() ? 1 : 0;
  report.damaged += copies_.damaged;
  report.repaired += copies_.repaired;
  if (!s_.read_only) {
    if (report.complete != 0)
      pool::mark_scrub(s_, 0, 0, pool::calendar_ns());
    else
      pool::mark_scrub(s_, reached, started_ns_, mark.completed_ns);
  }
  report_progress(true);
  report.elapsed_ns = now_ns() - begin;
}

// Copies outside of the zones. Short, and done by each run, resumed or not.
void scrubber::copies() {
  const auto report = [this](const finding& f) {
    if (o_.finding != nullptr)
      o_.finding(o_.arg, f.what, f.offset, f.length, f.oid, f.repaired ? 1 : 0);
  };
  repair_superblocks(s_, o_.repair, copies_, report);
  if (o_.engine != nullptr) repair_log(s_, *o_.engine, o_.repair, copies_, report);
  if (!o_.with_lane || s_.read_only) return;
  for (const pool::lane& l : s_.lanes) {
    // A lane that was not used since the pool was opened holds nothing that counts.
    if (l.begun.load(std::memory_order_acquire) == 0 &&
        l.applied.load(std::memory_order_acquire) == 0)
      continue;
    o_.with_lane(l.index,
                 [&](pool::lane& held) { repair_lane(s_, held, o_.repair, copies_, report); });
  }
}

// ---- walkers ------------------------------------------------------------------------------------

bool scrubber::take_batch(walker_state& w, uint64_t& end) {
  const locked hold(mutex_);
  w.at = UINT64_MAX;
  if (next_ >= units_) return false;
  w.at = next_;
  const uint64_t zone = next_ / per_zone_;
  end = std::min(next_ + batch_units, (zone + 1) * per_zone_);
  next_ = end;
  return true;
}

void scrubber::walk_units(walker_state& w) noexcept {
  try {
    for (uint64_t end = 0; !stopping() && take_batch(w, end);) walk_batch(w, end);
  } catch (...) {
    note_error();
  }
}

void scrubber::note_error() noexcept {
  const locked hold(mutex_);
  if (!error_) error_ = std::current_exception();
  failed_.store(true, std::memory_order_relaxed);
  for_walkers_.notify_all();
}

void scrubber::walk_batch(walker_state& w, uint64_t end) {
  uint64_t at = w.at;
  const uint64_t zone = at / per_zone_, begin = at;
  const bool usable = zone_ready(zone);
  if (!usable && stopping()) return;
  if (usable)
    pool::will_read_columns(s_, zone, at % per_zone_ * format::page, (end - at) * format::page);
  for (; at != end && !stopping() && usable; ++at) {
    const uint64_t block = at % per_zone_, before = w.seen.bytes;
    pace(unit_bytes(zone, block));
    w.walk.walk(zone, block, w.seen, w.suspects);
    bytes_.fetch_add(w.seen.bytes - before, std::memory_order_relaxed);
    if (!w.suspects.empty()) hand_over(w);
    if (alone_) report_progress(false);
  }
  if (!usable) at = end;
  flush(w, zone, at - begin);
  if (!alone_) return;
  report_events();
  keep_mark(w.at);
}

// Waits as the rate requires.
void scrubber::pace(uint64_t bytes) {
  for (uint64_t wait = rate_.draw(bytes, now_ns()); wait != 0 && !stopping();) {
    const uint64_t step = std::min<uint64_t>(wait, 20'000'000);
    std::this_thread::sleep_for(std::chrono::nanoseconds(step));
    wait -= step;
  }
}

void scrubber::hand_over(walker_state& w) {
  for (const suspect& d : w.suspects) submit({task::kind::look, d});
  w.suspects.clear();
}

// Adds the counts of a zone's units, which are done except for their suspects.
void scrubber::flush(walker_state& w, uint64_t zone, uint64_t units) {
  bool ended = false;
  {
    const locked hold(mutex_);
    zone_state& z = zones_[zone];
    z.begun = true;
    z.seen.add(w.seen);
    w.seen = {};
    w.at += units;
    z.units_left -= units;
    ended = units != 0 && z.units_left == 0;
  }
  task t{task::kind::end_zone, {}};
  t.d.zone = zone;
  if (ended) submit(t);
}

bool scrubber::zone_ready(uint64_t zone) {
  task t{task::kind::begin_zone, {}};
  t.d.zone = zone;
  {
    const locked hold(mutex_);
    if (zones_[zone].ready != readiness::fresh)
      t.d.zone = UINT64_MAX;
    else
      zones_[zone].ready = readiness::asked;
  }
  if (t.d.zone == zone) submit(t);
  const locked hold(mutex_);
  while (zones_[zone].ready == readiness::asked && !stopping()) for_walkers_.wait(mutex_);
  return zones_[zone].ready == readiness::ready;
}

// ---- the suspect repairer's thread --------------------------------------------------------------

void scrubber::submit(task t) {
  if (alone_) return perform(t);
  const locked hold(mutex_);
  while (tasks_.size() >= tasks_max && !failed_.load(std::memory_order_relaxed))
    for_walkers_.wait_for(mutex_, milliseconds(10));
  tasks_.push_back(t);
  for_repairer_.notify_one();
}

void scrubber::perform(const task& t) {
  switch (t.what) {
    case task::kind::look: repairer_.look_into(t.d); break;
    case task::kind::begin_zone: {
      readiness r = readiness::unusable;
      try {
        if (repairer_.begin_zone(t.d.zone)) r = readiness::ready;
      } catch (const failure& e) {
        if (e.code() != SCUTE_E_CORRUPT) throw;
        // Its descriptor contradicts the superblock.
        ++repairer_.tally(t.d.zone).damaged;
        ++repairer_.tally(t.d.zone).lost;
      }
      const locked hold(mutex_);
      zones_[t.d.zone].ready = r;
      zones_[t.d.zone].begun = true;
      for_walkers_.notify_all();
      break;
    }
    case task::kind::end_zone: end_zone(t.d.zone); break;
  }
}

void scrubber::end_zone(uint64_t zone) {
  repairer_.end_zone(zone);
  walk_tally seen;
  {
    const locked hold(mutex_);
    seen = zones_[zone].seen;
    zones_[zone].seen = {};
    zones_[zone].begun = false;
  }
  repair_tally& m = repairer_.tally(zone);
  scute_report& r = *report_;
  seen.objects += m.objects;
  seen.object_bytes += m.object_bytes;
  r.objects += seen.objects;
  r.object_bytes += seen.object_bytes;
  r.chunks += seen.chunks;
  r.columns_bytes += seen.parity_bytes;
  r.bytes += seen.bytes;
  r.damaged += m.damaged;
  r.repaired += m.repaired;
  r.lost += m.lost;
  if (o_.zone != nullptr) {
    const scute_zone_report z{zone,      seen.bytes, seen.objects, seen.object_bytes,
                              m.damaged, m.repaired, m.lost};
    o_.zone(o_.arg, &z);
  }
  m = {};
}

std::vector<uint64_t> scrubber::begun_zones() {
  const locked hold(mutex_);
  std::vector<uint64_t> begun;
  for (uint64_t z = 0; z < zones_.size(); ++z)
    if (zones_[z].begun) begun.push_back(z);
  return begun;
}

uint64_t scrubber::position() {
  const locked hold(mutex_);
  uint64_t least = next_;
  for (const walker_state& w : walkers_) least = std::min(least, w.at);
  return least;
}

// Not for each event: equal ones that wait together are reported as one.
void scrubber::report_events() {
  if (s_.events.pending()) s_.events.notify_all(s_);
}

void scrubber::report_progress(bool last) {
  const uint64_t done = bytes_.load(std::memory_order_relaxed);
  if (o_.progress == nullptr || (!last && alone_ && done - reported_bytes_ < report_every)) return;
  reported_bytes_ = done;
  const bool whole = last && report_->complete != 0;
  o_.progress(o_.arg, "scrub", whole ? total_bytes_ : std::min(skipped_bytes_ + done, total_bytes_),
              total_bytes_);
}

// position: taken before the tasks that were waiting then were performed (SCRUB-1).
void scrubber::keep_mark(uint64_t position) {
  const uint64_t now = now_ns();
  if (s_.read_only || position == first_ || now - marked_ns_ < mark_every_ns) return;
  marked_ns_ = now;
  pool::mark_scrub(s_, position, started_ns_, pool::read_marks(s_).completed_ns);
}

void scrubber::work_alone() {
  alone_ = true;
  walk_units(walkers_.emplace_back(s_, heap_));
}

void scrubber::work_together(uint32_t threads) {
  std::vector<std::thread> crew;
  for (uint32_t i = 0; i < threads; ++i) walkers_.emplace_back(s_, heap_);
  {
    const locked hold(mutex_);
    walking_ = threads;
  }
  for (uint32_t i = 0; i < threads; ++i) {
    try {
      crew.emplace_back([this, i] {
        block_all_but_faults();
        const pool::finder_scope as(SCUTE_FINDER_SCRUB);
        const pool::library_call within;
        if (o_.yield) yield_to_others();
        walk_units(walkers_[i]);
        const locked hold(mutex_);
        --walking_;
        for_repairer_.notify_one();
      });
    } catch (const std::exception&) {  // no more threads: the existing ones must do
      const locked hold(mutex_);
      walking_ -= threads - i;
      break;
    }
  }
  if (crew.empty()) return work_alone();
  for (bool over = false; !over;) {
    const uint64_t reached = position();
    std::deque<task> tasks;
    {
      const locked hold(mutex_);
      if (tasks_.empty() && walking_ != 0) for_repairer_.wait_for(mutex_, milliseconds(100));
      over = walking_ == 0;
      std::swap(tasks, tasks_);
      for_walkers_.notify_all();
    }
    try {
      for (const task& t : tasks)
        if (!failed_.load(std::memory_order_relaxed)) perform(t);
    } catch (...) {
      note_error();
    }
    report_events();
    report_progress(false);
    keep_mark(reached);
  }
  for (auto& t : crew) t.join();
}

}  // namespace scute::core::scrub

// SPDX-License-Identifier: BSD-3-Clause
// Opens an existing pool: reads the superblock, recovers, and applies the options of this session.
#include <chrono>

#include "core/engine/speculative/log_file/log_in_file.hpp"
#include "core/medium/mapped_medium.hpp"
#include "core/repair/repair.hpp"
#include "core/scrub/suspect_pages.hpp"
#include "core/session/as_asked.hpp"
#include "core/session/factory.hpp"
#include "core/session/instance.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/pool/session_number.hpp"
#include "core/shared/pool/superblock.hpp"
#include "core/shared/pool/zone_usage.hpp"

namespace scute::core {
namespace {

using clock = std::chrono::steady_clock;

uint64_t nanoseconds_since(clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count());
}

}  // namespace

std::unique_ptr<instance> instance::open(const std::string& path, const scute_options& o) {
  const auto start = clock::now();
  std::unique_ptr<instance> in;
  try {
    in = open_accepted(path, o, false);
  } catch (const unknown_user_file&) {
    require_unchanged(path, o);
    in = open_accepted(path, o);
  }
  in->open_ns = nanoseconds_since(start);
  return in;
}

std::unique_ptr<instance> instance::open_accepted(const std::string& path, const scute_options& o,
                                                  bool accepted) {
  const auto how = (o.flags & SCUTE_READONLY) != 0 ? medium::access::read : medium::access::write;
  return attach(medium::map_file(medium::file_handle::open(path, how), o.medium, how), path, o,
                medium::log_paths_of(path, 0), nullptr, accepted);
}

std::unique_ptr<instance> instance::attach(std::unique_ptr<medium::medium> m,
                                           const std::string& path, const scute_options& o,
                                           std::unique_ptr<medium::log_paths> paths,
                                           std::unique_ptr<medium::user_file> user, bool accepted) {
  std::unique_ptr<instance> in(new instance());
  in->adopt(std::move(m), path);
  in->s.log_paths = std::move(paths);
  in->s.user = std::move(user);
  in->accepted_ = accepted;
  pool::state& s = in->s;
  auto found = pool::read_superblock(*s.medium, path);
  if (found.newest.clean == 0) {
    // All that follows depends on the bytes read here.
    s.medium->refresh();
    found = pool::read_superblock(*s.medium, path);
  }
  s.sb = found.newest;
  s.geo = pool::read_geometry(s.sb);
  if ((s.sb.incompat & format::incompat_foreign) != 0) {
    in->find_user_file(o);
    if (s.sb.clean == 0) s.medium->refresh();
  }
  const auto bad = [&](const char* what) {
    throw failure(SCUTE_E_CORRUPT, path + ": the superblock names an unknown " + what);
  };
  const pool::engine_facts* kind = pool::find_engine(s.sb.engine);
  if (kind == nullptr) bad("engine");
  if (!kind->log_in_chunks && (s.sb.incompat & format::incompat_log_file) != 0)
    bad("place of the log");
  if (s.sb.protection > SCUTE_PROTECT_MLPC) bad("protection level");
  if (s.sb.checksum_kind != SCUTE_CHECKSUM_CRC32C && s.sb.checksum_kind != SCUTE_CHECKSUM_ADLER32)
    bad("checksum kind");
  if ((s.sb.protection >= SCUTE_PROTECT_MLP) != (s.geo.parity != 0) ||
      s.geo.parity > kind->parities_max)
    bad("parity arrangement");
  if (static_cast<scute_protection>(s.sb.protection) < kind->least)
    bad("combination of engine and protection");
  if ((s.sb.protection >= SCUTE_PROTECT_ML ? 2u : 1u) != s.geo.lane_replicas) bad("lane layout");
  if (s.sb.tag == 0) bad("tag");
  s.sb.layout[sizeof s.sb.layout - 1] = '\0';
  require_as_asked(s, o, goal_of(s));
  in->was_clean = s.sb.clean != 0;
  in->look_for_log(*kind, o);
  in->assemble();
  const pool::finder_scope as(SCUTE_FINDER_OPEN);
  in->take_options(o);
  for (unsigned i = 0; i < 3; ++i) {
    if (!found.damaged[i]) continue;
    s.repaired.fetch_add(1, std::memory_order_relaxed);
    s.events.post({SCUTE_EVENT_SUPERBLOCK, SCUTE_OUTCOME_REPAIRED, scute_finder{},
                   s.geo.superblock_offset(i), sizeof(format::superblock)});
  }
  in->watch_pages(o);
  in->begin_session(o);
  in->open_ = true;
  if (s.policy == SCUTE_POLICY_SCRUB && !s.read_only) in->scrubs.begin_policy(s.scrub_every);
  s.events.notify_all(s);
  return in;
}

// Applies the options of this session.
void instance::take_options(const scute_options& o) {
  s.policy = o.policy;
  s.scrub_every = o.scrub_every;
  s.flags = o.flags;
  if ((o.flags & SCUTE_ACCOUNT) != 0) s.account.enable();
  s.verify_on_read.store(verify_on_read_by_choice());
  s.plain_encoding = (o.flags & SCUTE_PLAIN_ENCODING) != 0;
  s.events.call(o.event, o.event_arg);
}

// From here on a page that cannot be read is rebuilt when a thread accesses it. Pages known to be
// lost are revoked first, so that no thread takes their bytes for content.
void instance::watch_pages(const scute_options& o) {
  pages = std::make_unique<repair::page_repairer>(s);
  faults_.emplace(s, *pages, (o.flags & SCUTE_NO_FAULT_HANDLER) == 0);
  if ((o.flags & SCUTE_NO_FAULT_HANDLER) == 0) this_thread().admit_faults();
  pages->notes.load();
  known_losses_ = s.has_parity ? pages->notes.pages() : std::vector<uint64_t>{};
  for (const uint64_t page : s.medium->bad_pages()) {
    const bool in_zone = page >= s.geo.zones_offset && page < s.geo.zones_end();
    if (page < s.geo.file_size && (s.has_parity || !in_zone)) known_losses_.push_back(page);
  }
  for (const uint64_t page : known_losses_) s.medium->revoke_page(page);
}

void instance::repair_known_losses() {
  for (const uint64_t page : known_losses_)
    if (s.medium->is_revoked(page))
      pages->repair(page, repair::page_repairer::beyond_repair::condoned, SCUTE_FINDER_OPEN);
  known_losses_.clear();
}

void instance::repair_bad_pages(scute_finder finder) {
  if (s.read_only) return;
  for (const uint64_t page : s.medium->bad_pages()) {
    const bool in_zone = page >= s.geo.zones_offset && page < s.geo.zones_end();
    if (page >= s.geo.file_size || (in_zone && !s.has_parity && !pages->is_log_page(page)))
      continue;
    s.medium->revoke_page(page);
  }
  // Also repairs pages in unused space, which no thread would ever touch.
  for (const uint64_t page : s.medium->revoked_pages())
    pages->repair(page, repair::page_repairer::beyond_repair::condoned, finder);
}

// Recovers if need be, and starts a new epoch.
void instance::begin_session(const scute_options& o) {
  std::vector<uint32_t> marks;
  engine->find_log();
  pool::fill_holes(s, marks);
  if (!was_clean) {
    const auto start = clock::now();
    if (o.progress != nullptr) o.progress(o.progress_arg, "recover", 0, 1);
    scrub::suspect_pages suspects(s, *pages, known_losses_);
    recovery = engine->recover(s.service_alone(), &suspects);
    // Pages that were rebuilt by guesses are final now; the parity is computed from them.
    for (uint32_t i = 0; i < pages->suspect_count(); ++i)
      s.resolving->before_write(pages->suspect_page(i), format::page);
    recovery_ns = nanoseconds_since(start);
  }
  // A repair before the zone is loaded needs this: rows that were never used do not take part in
  // parity, whatever bytes they hold.
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    repair::repair_descriptor(s, z);
    pool::set_used_end(s, z, pool::read_usage(s, z).high_water);
  }
  pool::fill_holes(s, marks);  // by descriptors that recovery has changed or repaired
  repair_known_losses();
  // Losses are reported before the logs that say why become void.
  if (pages->suspect_count() != 0 || goal_ != nullptr) s.events.notify_all(s);
  // From here on all logs of the old epoch are void at once. Log-free parts are resolved later.
  const uint64_t resolved = s.sb.resolved_epoch;
  const bool unresolved = engine->has_unresolved(resolved);
  if (!unresolved) s.sb.resolved_epoch = s.sb.epoch;
  engine->prepare();
  pool::number_session(s, s.sb.epoch + 1);
  report_goal(goal_);
  ++s.sb.epoch;
  s.sb.clean = 0;
  pool::write_superblock(s.service_alone(), s.sb);
  s.require_healthy();
  engine::log_in_file::remove_stale(s);
  engine->start();
  pages->forget_suspects(s.service_alone());
  if (unresolved) {
    engine->resume(resolved);
    resolving.begin();
  }
  if (!was_clean) {
    // A read-only session has no log to append steps to if the log is a file of its own. Chunks
    // that stay lent harm nothing.
    const bool steps = !s.read_only || (s.sb.incompat & format::incompat_log_file) == 0;
    if (steps) heap->reclaim_lent(s.lanes.front());
    if (o.progress != nullptr) o.progress(o.progress_arg, "recover", 1, 1);
  }
  if (goal_ != nullptr) switch_to_goal();
  finish_growth();
  start_threads(unresolved && (o.flags & SCUTE_LAZY_RECOVERY) == 0);
}

}  // namespace scute::core

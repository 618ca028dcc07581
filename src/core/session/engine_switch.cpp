// SPDX-License-Identifier: BSD-3-Clause
// Switches a pool to another engine. The superblock names the engine that the pool has. If an
// engine's log is lost, or is to be made again elsewhere or in another size, the switch goes by way
// of another engine, the lender of logs (core/layout/engines.hpp). Then the superblock also names
// the engine that the pool is to get back: its goal.
//
//   spec --superblock: lender, goal spec--> --log is durable--> superblock: spec, no goal
//
// A crash leaves one of these. The next opening for writing handles it so:
//
//   superblock with the goal not durable     pool of engine spec: refused, or log given up
//   it is; no log yet, or one at `coming`    opened with lender, recovered, switched to goal
//   superblock of the switch durable         pool of engine spec, whose log gets its name
//   no room for the log file                 opening fails and says why; goal stays, reads work
//   no room for the log in the pool          GOAL-4
//   older library has opened it meanwhile    it has kept the goal, and the lender
//
// GOAL-1 The superblock that takes away the engine that the pool is to get back names the goal
//    itself; the one that gives it back names none. Between them log_cap is that of the coming
//    engine.
// GOAL-2 A goal counts only if the engine is the lender: if an older library, which ignores goals,
//    has switched the pool to another engine, the pool keeps that. Each opening for writing writes
//    the goal that counts, or none.
// GOAL-3 An opening for writing that finds a goal completes the switch before its caller has the
//    pool. It may be killed, and be repeated, at any moment.
// GOAL-4 An opening halves the cap of the coming log until the pool has room for it. The process
//    that asked for it was killed before it could go back to the size of the old one, which is not
//    known any more. In a pool that does not open, no program can free objects.
// GOAL-5 A log that was lost in a file, or that was to go to one, is made in a file, whatever
//    medium the opening chooses: the pool may have no room for it. The superblock with the goal
//    says so (compat_goal_in_file), and none without a goal does. An older library goes by its
//    medium.
#include <exception>

#include "core/engine/speculative/log_file/log_in_file.hpp"
#include "core/session/factory.hpp"
#include "core/session/instance.hpp"
#include "core/shared/marks.hpp"
#include "core/shared/pool/session_number.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core {

// No other operation is running. A crash before the superblock is written leaves the pool with its
// old engine and some chunks lent, which the next open takes back. A crash after it leaves a pool
// of the other engine that has nothing to recover.
void instance::switch_engine(const pool::engine_facts& to, uint64_t log_cap,
                             const pool::engine_facts* goal) {
  pool::lane& l = s.lanes.front();
  heap->make_pending(l);  // the next engine may not take it along
  drain();
  s.require_healthy();
  heap->clear_chunk_cache(l);
  const bool apart = to.log_in_chunks && (wants_log_file() || goal_goes_to_file());
  if (apart) {
    engine::log_in_file::make(s, log_cap, s.sb.epoch + 1);
    s.sb.incompat |= format::incompat_log_file;
  } else {
    if (to.log_in_chunks) engine::lend_log(s, *heap, l, s.service_alone(), log_cap);
    s.sb.incompat &= ~format::incompat_log_file;
  }
  s.sb.engine = static_cast<uint32_t>(to.id);
  pool::number_session(s, s.sb.epoch + 1);
  if (goal != nullptr && wants_log_file()) s.sb.compat |= format::compat_goal_in_file;
  report_goal(goal);
  s.sb.log_cap = (goal != nullptr ? *goal : to).log_in_chunks ? log_cap : 0;
  s.sb.resolved_epoch = s.sb.epoch++;
  pool::write_superblock(s.service_alone(), s.sb);
  s.require_healthy();
  s.know_engine(to);
  std::unique_ptr<tx::engine> next = make_engine(to, s, *heap);
  relay.target = next.get();
  for (tx::transaction& t : transactions) t.use(*next);
  engine = std::move(next);  // which lets go of the old one's log
  if (!apart) engine::log_in_file::remove_stale(s);
  if (!to.log_in_chunks || apart) heap->retain({});
  engine->start();
  if (!to.log_in_chunks || apart) heap->reclaim_lent(l);
}

void instance::set_engine(const pool::engine_facts& to, uint64_t log_cap) {
  engine::require_log_to_cap(s.path, to, log_cap);
  const bool same = static_cast<uint32_t>(to.id) == s.sb.engine;
  const bool apart = (s.sb.incompat & format::incompat_log_file) != 0;
  if (same && (!to.log_in_chunks || (log_cap == 0 && apart == wants_log_file()))) return;
  if (static_cast<scute_protection>(s.sb.protection) < to.least)
    throw failure(SCUTE_E_INVALID,
                  s.path + ": engine " + to.name + " needs more protection than this pool has");
  if (s.geo.parity > to.parities_max)
    throw failure(SCUTE_E_INVALID,
                  s.path + ": engine " + to.name + " supports " + std::to_string(to.parities_max) +
                      " parity row, but this pool has " + std::to_string(s.geo.parity));
  resolving.finish(nullptr, nullptr);
  resolving.stop();
  idle.stop();
  scrubs.close();
  const auto to_it = [&](uint64_t cap) {
    switch_engine(to, cap);
    name_log();
  };
  if (!same) return to_it(log_cap);
  // A log of another size, or elsewhere: the old one goes first.
  uint64_t before = apart ? engine->log().cap : 0;
  if (const auto list = engine::read_list(s); list && !apart)
    before = list->kept * uint64_t{s.geo.chunk_size};
  switch_engine(pool::lender_of_logs(s.geo.parity), log_cap, &to);
  try {
    to_it(log_cap);
  } catch (const failure&) {
    // There was room for the old log.
    if (before != 0) to_it(before);
    throw;
  }
}

// GOAL-3, GOAL-4, GOAL-5
void instance::switch_to_goal() {
  for (uint64_t cap = s.sb.log_cap;; cap /= 2) try {
      switch_engine(*goal_, cap);
      break;
    } catch (const failure& f) {
      const bool too_large =
          f.code() == SCUTE_E_RANGE ||
          (f.code() == SCUTE_E_NOSPC && !wants_log_file() && !goal_goes_to_file());
      if (!too_large || cap < format::page) throw;
    }
  name_log();
}

// The log is complete and durable by then, so a failure does no harm: an opening finds the log
// under its other name too.
void instance::name_log() {
  try {
    engine::log_in_file::name(s);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the next opening names it
  }
}

void instance::name_log_of(const std::string& path, const format::superblock& sb) {
  engine::log_in_file::name_unopened(*medium::log_paths_of(path, 0), sb);
}

void instance::remove_log_of(const std::string& path, const format::superblock& sb) {
  engine::log_in_file::remove_unopened(*medium::log_paths_of(path, 0), sb);
}

bool instance::wants_log_file() const noexcept {
  return s.log_paths != nullptr && s.log_paths->is_wanted(*s.medium);
}

// GOAL-5
bool instance::goal_goes_to_file() const noexcept {
  return (s.sb.compat & format::compat_goal_in_file) != 0;
}

// GOAL-2, GOAL-3
const pool::engine_facts* instance::goal_of(const pool::state& s) noexcept {
  const pool::engine_facts* const goal = pool::find_engine(s.sb.goal);
  const auto lender = static_cast<uint32_t>(pool::lender_of_logs(s.geo.parity).id);
  const bool counts =
      !s.read_only && goal != nullptr && goal->log_in_chunks && s.sb.engine == lender;
  return counts ? goal : nullptr;
}

// GOAL-1, GOAL-5
void instance::report_goal(const pool::engine_facts* goal) noexcept {
  s.sb.goal = goal == nullptr ? 0 : static_cast<uint32_t>(goal->id);
  if (goal == nullptr) s.sb.compat &= ~format::compat_goal_in_file;
}

// Handles a log that cannot be found. After a clean close it holds nothing that is needed: the pool
// is opened with the lender of logs, which takes the chunks back, and switched.
//
// After an unclean end the same is done if the caller asks for it (SCUTE_WITHOUT_LOG) and a log in
// a file is lost. The pool then holds at least what checkpoints have written back. Its parity is
// wrong where commits were interrupted half way; a check repairs that.
void instance::look_for_log(const pool::engine_facts& kind, const scute_options& o) {
  s.salt = pool::pool_salt(s.sb);
  if (s.read_only) return;
  if (!kind.log_in_chunks) {
    goal_ = goal_of(s);
    return;
  }
  const bool apart = (s.sb.incompat & format::incompat_log_file) != 0;
  const bool gives_up = (o.flags & SCUTE_WITHOUT_LOG) != 0;
  if (was_clean ? apart || engine::read_list(s).has_value()
                : !apart || !gives_up || engine::log_in_file::give_up(s))
    return;
  goal_ = &kind;
  s.sb.engine = static_cast<uint32_t>(pool::lender_of_logs(s.geo.parity).id);
  if (was_clean) {
    s.repaired.fetch_add(1, std::memory_order_relaxed);
  } else {
    s.sb.incompat &= ~format::incompat_log_file;
    s.sb.compat |= format::compat_goal_in_file;  // GOAL-5
    s.sb.resolved_epoch = s.sb.epoch;            // the lender has nothing to resolve in it
    pool::note_lost_log(s);
  }
  s.events.post({SCUTE_EVENT_LOG, was_clean ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_LOST,
                 SCUTE_FINDER_OPEN, s.geo.lanes_offset, s.geo.lane_size});
  was_clean = false;
}

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <utility>

#include "c_api/pool/arguments.hpp"
#include "c_api/pool/guard.hpp"
#include "codec/cpu.hpp"
#include "core/scrub/check.hpp"
#include "core/shared/marks.hpp"

using namespace scute::core;

namespace scute::core::c_api {

namespace {

// An environment is for many pools, so it says nothing about one that exists, except its layout.
scute_options environment(options_for use) {
  scute_options o;
  scute_options_init(&o);
  const scute_options unset = o;
  if (const int e = scute_options_from_env(&o); e != SCUTE_OK)
    throw failure(static_cast<scute_error>(e), scute_errormsg());
  if (use == options_for::a_new_pool) return o;
  scute_options session = unset;
  session.layout = o.layout;
  session.medium = o.medium;
  session.flags = o.flags & ~uint32_t{SCUTE_OVERWRITE | SCUTE_PREALLOCATE};
  session.policy = o.policy;
  session.scrub_every = o.scrub_every;
  return session;
}

}  // namespace

scute_options normalise(const scute_options* given, options_for use) {
  if (given == nullptr) return environment(use);
  scute_options o;
  scute_options_init(&o);
  if (given->struct_size < offsetof(scute_options, progress) ||
      given->struct_size > size_t{4} * sizeof o)
    throw failure(SCUTE_E_INVALID,
                  "options->struct_size is not set; call scute_options_init() on them first");
  std::memcpy(&o, given, std::min(given->struct_size, sizeof o));
  constexpr uint32_t known = SCUTE_READONLY | SCUTE_PREALLOCATE | SCUTE_OVERWRITE |
                             SCUTE_NO_FAULT_HANDLER | SCUTE_ACCOUNT | SCUTE_LAZY_RECOVERY |
                             SCUTE_PLAIN_ENCODING | SCUTE_DAMAGED | SCUTE_WITHOUT_LOG;
  if ((o.flags & ~known) != 0) throw failure(SCUTE_E_INVALID, "options->flags has unknown bits");
  if ((o.flags & SCUTE_READONLY) != 0 && (o.flags & SCUTE_WITHOUT_LOG) != 0)
    throw failure(SCUTE_E_INVALID,
                  "a pool is opened without its log for writing only, since it has to be checked "
                  "and repaired; leave out SCUTE_READONLY or SCUTE_WITHOUT_LOG");
  if (o.mode > 0777) throw failure(SCUTE_E_INVALID, "options->mode is not permission bits");
  if (o.medium < SCUTE_MEDIUM_AUTO || o.medium > SCUTE_MEDIUM_RAM)
    throw failure(SCUTE_E_INVALID, "options->medium must be auto, dax, file or ram");
  if (o.policy < SCUTE_POLICY_DEFAULT || o.policy > SCUTE_POLICY_CONSERVATIVE)
    throw failure(SCUTE_E_INVALID, "options->policy must be default, scrub or conservative");
  if (o.policy == SCUTE_POLICY_SCRUB && o.scrub_every == 0)
    throw failure(SCUTE_E_INVALID,
                  "policy scrub needs options->scrub_every, the transactions from one scrub to the "
                  "next");
  return o;
}

void need_path(const char* path) {
  if (need_out(path, "path") != '\0') return;
  errno = ENOENT;
  throw failure(SCUTE_E_NOENT, "the path is empty; name the file of the pool");
}

namespace {

int start(const char* path, const scute_options* options, scute_pool** pool, bool create) {
  const uncancelled now;
  return guarded([&] {
    need_path(path);
    need_out(pool, "pool");
    const scute_options o =
        normalise(options, create ? options_for::a_new_pool : options_for::an_existing_pool);
    auto p = std::make_unique<scute_pool>();
    p->in = create ? instance::create(path, o) : instance::open(path, o);
    *pool = p.release();
  });
}

// A pool of another process cannot be taken down: threads that do not exist here may have been
// changing it. It is kept in a list, also for tools that search for memory leaks.
void let_go(scute_pool* pool) noexcept {
  static constinit std::atomic<scute_pool*> all{nullptr};
  pool->next_inherited = all.load(std::memory_order_relaxed);
  while (!all.compare_exchange_weak(pool->next_inherited, pool)) {
  }
}

const char* simd_name() noexcept {
  const codec::cpu_features& f = codec::cpu();
  return f.avx512 ? "avx512" : f.avx2 ? "avx2" : f.sse42 ? "sse4.2" : "portable";
}

void sum(scute_counters& to, const medium::counters& c) {
  using medium::purpose;
  const auto bytes = [&](purpose p) { return c.bytes[static_cast<int>(p)].get(); };
  to.transactions += c.transactions.get();
  to.aborts += c.aborts.get();
  to.fences += c.fences.get();
  to.lines += c.lines.get();
  to.bytes_data += bytes(purpose::data);
  to.bytes_parity += bytes(purpose::parity);
  to.bytes_log += bytes(purpose::log);
  to.bytes_metadata += bytes(purpose::metadata);
  to.allocs += c.allocs.get();
  to.frees += c.frees.get();
  to.lock_waits += c.lock_waits.get();
  to.peer_invalidations += c.peer_invalidations.get();
  to.fallbacks += c.fallbacks.get();
  to.repairs += c.repairs.get();
  to.losses += c.losses.get();
  to.verified_bytes += c.verified_bytes.get();
  to.logged += c.logged.get();
  to.drains += c.drains.get();
  to.undo_spills += c.undo_spills.get();
  to.shorts += c.shorts.get();
}

}  // namespace
}  // namespace scute::core::c_api

extern "C" {

int scute_create(const char* path, const scute_options* options, scute_pool** pool) {
  return c_api::start(path, options, pool, true);
}

int scute_open(const char* path, const scute_options* options, scute_pool** pool) {
  return c_api::start(path, options, pool, false);
}

int scute_set_engine(const char* path, const scute_options* options, scute_engine engine) {
  const uncancelled now;
  return c_api::guarded([&] {
    c_api::need_path(path);
    const pool::engine_facts* to = pool::find_engine(static_cast<uint32_t>(engine));
    if (to == nullptr) throw failure(SCUTE_E_INVALID, "engine must be redo, logfree or spec");
    scute_options o = c_api::normalise(options, c_api::options_for::an_existing_pool);
    if ((o.flags & SCUTE_READONLY) != 0)
      throw failure(SCUTE_E_READONLY, "SCUTE_READONLY is set, so the engine cannot be changed");
    const uint64_t log_cap = std::exchange(o.log_cap, 0);  // of the log that it gets
    const std::unique_ptr<instance> in = instance::open(path, o);
    in->set_engine(*to, log_cap);
    in->close();
  });
}

int scute_close(scute_pool* pool) {
  if (pool == nullptr) return SCUTE_OK;
  if (c_api::inherited(pool)) {
    c_api::let_go(pool);
    return SCUTE_OK;
  }
  const uncancelled now;
  const int e = c_api::guarded([&] {
    pool->in->close();
    this_thread().refresh();
  });
  delete pool;
  return e;
}

int scute_root(scute_pool* pool, uint64_t size, uint32_t type, scute_oid* oid) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    c_api::need_out(oid, "oid");
    this_thread().refresh();
    if (this_thread().current != nullptr)
      throw failure(SCUTE_E_INVALID, "scute_root() inside a transaction; call it before");
    *oid = in.root(size, type);
  });
}

int scute_pool_info(scute_pool* pool, scute_info* info) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    const pool::state& s = in.s;
    const auto& g = s.geo;
    scute_info i{};
    std::memcpy(i.uuid, s.sb.uuid, sizeof i.uuid);
    std::memcpy(i.layout, s.sb.layout, sizeof i.layout);
    i.size = g.file_size;
    i.version = s.sb.version;
    i.medium = s.medium->what() == medium::kind::dax    ? SCUTE_MEDIUM_DAX
               : s.medium->what() == medium::kind::file ? SCUTE_MEDIUM_FILE
                                                        : SCUTE_MEDIUM_RAM;
    i.map_sync = s.medium->map_sync() ? 1 : 0;
    i.eadr = s.medium->eadr() ? 1 : 0;
    i.flush = s.medium->flush_name();
    i.simd = c_api::simd_name();
    i.engine = static_cast<scute_engine>(s.sb.engine);
    i.protection = static_cast<scute_protection>(s.sb.protection);
    i.checksum = static_cast<scute_checksum>(s.sb.checksum_kind);
    i.rows = g.rows;
    i.parity = g.parity;
    i.row_size = g.row_size;
    i.zone_size = g.zone_size;
    i.zone_count = g.zone_count;
    i.chunk_size = g.chunk_size;
    i.chunk_count = uint64_t{g.chunks} * g.zone_count;
    for (uint64_t z = 0; z < g.zone_count; ++z) i.chunks_free += in.heap->zones().get(z).available;
    i.chunks_free += in.heap->cached_chunks();
    i.lanes = g.lane_count;
    i.lane_size = g.lane_size;
    i.epoch = s.sb.epoch;
    i.clean = in.was_clean ? 1 : 0;
    i.recovered = in.recovery.completed;
    i.recovery_ns = in.recovery_ns;
    i.repaired = s.repaired.load();
    i.open_ns = in.open_ns;
    i.overhead = g.file_size - i.chunk_count * g.chunk_size;
    i.tag = s.sb.tag;
    i.lost = s.lost.load();
    i.policy = s.policy;
    i.scrub_every = s.scrub_every;
    const format::pool_marks mark = pool::read_marks(s);
    i.last_scrub_ns = mark.completed_ns;
    i.scrub_position = mark.position * format::page * (uint64_t{g.rows} + g.parity);
    i.fault_handler = (s.flags & SCUTE_NO_FAULT_HANDLER) == 0 ? 1 : 0;
    i.pages_repaired = in.pages->repaired_pages.load();
    i.flags = s.flags;
    if (s.resolving->pending()) {
      const auto done = s.resolving->done();
      i.unresolved = (done.blocks - done.resolved) * format::page * (uint64_t{g.rows} + g.parity);
    }
    i.rolled_back = s.resolving->traces().rolled_back;
    i.finished = s.resolving->traces().finished;
    const tx::engine::log_state log = in.engine->log();
    i.log_cap = log.cap;
    i.log_used = log.used;
    i.log_truncation_point = log.truncation_point;
    i.log_file = log.file;
    i.lost_log_session = s.sb.lost.session;
    i.lost_log_since_ns = s.sb.lost.since_ns;
    i.lost_log_opened_ns = s.sb.lost.opened_ns;
    i.lost_logs = s.sb.lost.times;
    c_api::copy_out(info, i, "info");
  });
}

int scute_stats(scute_pool* pool, scute_counters* counters) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    scute_counters c{};
    for (const auto& l : in.s.lanes) {
      c_api::sum(c, l.w.count);
      c_api::sum(c, l.drain_writer.count);
      c_api::sum(c, l.spill_writer.count);
    }
    c_api::sum(c, in.s.service_count());
    if (const auto* count = in.engine->background_count()) c_api::sum(c, *count);
    in.pages->for_each_writer([&](const medium::writer& w) { c_api::sum(c, w.count); });
    c.losses = in.s.losses.load(std::memory_order_relaxed);
    c.verified_bytes += in.s.verified_outside.load(std::memory_order_relaxed);
    c.unverified_bytes = in.s.account.total();
    c.unverified_max = in.s.account.most();
    c.scrubs = in.s.account.scrubs();
    c.pages_repaired = in.pages->repaired_pages.load();
    c_api::copy_out(counters, c, "counters");
  });
}

int scute_stats_lane(scute_pool* pool, uint32_t lane, scute_counters* counters) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    if (lane >= in.s.lanes.size())
      throw failure(SCUTE_E_RANGE, "the pool has " + std::to_string(in.s.lanes.size()) +
                                       " lanes; there is no lane " + std::to_string(lane));
    scute_counters c{};
    c_api::sum(c, in.s.lanes[lane].w.count);
    c_api::copy_out(counters, c, "counters");
  });
}

int scute_thread_lane(scute_pool* pool) {
  if (pool == nullptr) return c_api::fail(SCUTE_E_INVALID, "the pool handle is null");
  if (c_api::inherited(pool)) return c_api::refuse_inherited();
  const thread_state& me = this_thread();
  if (me.last_pool == pool->in->serial) return me.last_lane;
  return c_api::fail(SCUTE_E_NOENT, "this thread has run no transaction on the pool yet");
}

int scute_check(scute_pool* pool, int repair, scute_report* report, scute_finding_fn finding,
                scute_progress_fn progress, void* arg) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    scute_report r{};
    this_thread().refresh();
    if (this_thread().current != nullptr && this_thread().pool == &in)
      throw failure(SCUTE_E_INVALID, "scute_check() inside a transaction; end that one first");
    if (repair != 0 && in.s.read_only)
      throw failure(SCUTE_E_READONLY,
                    in.s.path + " was opened read-only, so nothing can be repaired");
    c_api::copy_out(report, r, "report");  // complains before a long run, not after it
    scrub::check_options o;
    o.repair = repair != 0;
    o.finding = finding;
    o.progress = progress;
    o.arg = arg;
    o.engine = in.engine.get();
    in.resolving.finish(progress, arg);
    if (repair != 0) in.repair_bad_pages(SCUTE_FINDER_CHECK);
    scrub::check(in.s, *in.heap, o, r);
    c_api::copy_out(report, r, "report");
  });
}

}  // extern "C"

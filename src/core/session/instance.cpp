// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/instance.hpp"

#include <sys/random.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/locks/lock.hpp"
#include "base/process/open_guarded.hpp"
#include "core/engine/speculative/log_file/segment_list.hpp"
#include "core/file/new_file.hpp"
#include "core/heap/foreign_span.hpp"
#include "core/medium/guarded_user_file.hpp"
#include "core/medium/mapped_medium.hpp"
#include "core/repair/repair.hpp"
#include "core/session/factory.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/pool/session_number.hpp"
#include "core/shared/pool/superblock.hpp"
#include "core/tx/verify.hpp"

namespace scute::core {
namespace {

using clock = std::chrono::steady_clock;

uint64_t since(clock::time_point start) noexcept {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count());
}

// FILE-5
medium::ownership owner_of_new(const std::string& path, const scute_options& o,
                               const foreign_request* foreign, bool replace) {
  if (foreign != nullptr) return foreign->owner;
  struct stat old{};
  if (replace && ::stat(path.c_str(), &old) == 0)
    return {old, o.mode != 0 ? o.mode : old.st_mode & 0777U};
  return o.mode != 0 ? o.mode : 0600U;
}

void random_bytes(void* to, size_t n) {
  if (::getrandom(to, n, 0) != static_cast<ssize_t>(n))
    throw_errno("get random bytes for the pool's identity", errno);
}

struct progress_adapter {
  scute_progress_fn fn;
  void* arg;
  static void call(void* self, uint64_t done, uint64_t total) {
    const auto* p = static_cast<progress_adapter*>(self);
    p->fn(p->arg, "preallocate", done, total);
  }
};

std::atomic<uint64_t> next_serial{1};

// Plans a new pool. apart: a log in chunks would have a file of its own.
pool::foreign_plan plan(const scute_options& o, const foreign_request* foreign, bool apart) {
  if (foreign == nullptr) return {pool::choose_geometry(o), {}};
  const medium::file_identity file = foreign->file->look();
  const auto with_log = [&](uint32_t chunks) {
    return pool::plan_foreign(o, file.size, foreign->capacity, chunks);
  };
  pool::foreign_plan p = with_log(0);
  // A larger pool has a larger log, which is part of the pool, so this iterates.
  for (int i = 0; i < 4 && !apart && pool::choose_engine(o, false).log_in_chunks; ++i)
    p = with_log(static_cast<uint32_t>(
        engine::chunks_of_log(p.geo, engine::plan_log(p.geo, o.log_cap), o.log_cap)));
  p.record.inode = file.inode;
  if (foreign->guard != 0) p.record.guard = format::guard_mark | foreign->guard;
  return p;
}

constexpr size_t identity_size = sizeof(format::superblock::uuid) + sizeof(format::superblock::tag);

}  // namespace

instance::instance() : serial(next_serial.fetch_add(1, std::memory_order_relaxed)) {}

instance::~instance() {
  try {
    if (open_) close();
  } catch (const std::exception&) {
    // The pool stays marked as in use, and the next open recovers it.
  }
  if (inherited()) return;
  end_life();
  give_pool_life(life);
}

void instance::adopt(std::unique_ptr<medium::medium> m, const std::string& path) {
  s.path = path;
  s.medium = std::move(m);
  s.read_only = s.medium->read_only();
  s.service = std::make_unique<medium::writer>(*s.medium);
}

// Derives the volatile state from s.sb and s.geo.
void instance::assemble() {
  s.salt = pool::pool_salt(s.sb);
  s.oid_tag = uint64_t{s.sb.tag} << 48;
  s.has_parity = s.geo.parity != 0;
  s.has_checksums = s.sb.protection >= SCUTE_PROTECT_MLPC;
  s.know_engine(*pool::find_engine(s.sb.engine));
  s.checksum = static_cast<codec::checksum_kind>(s.sb.checksum_kind);
  for (uint32_t i = 0; i < s.geo.lane_count; ++i) s.lanes.emplace_back(i, *s.medium);
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) s.used_end.emplace_back(s.geo.data_size);
  heap = std::make_unique<heap::heap>(s, relay);
  objects = std::make_unique<scrub::enumeration>(s, *heap);
  engine = make_engine(*pool::find_engine(s.sb.engine), s, *heap);
  relay.target = engine.get();
  leases_.resize(s.geo.lane_count);
  for (auto& l : s.lanes) transactions.emplace_back(s, *heap, *engine, l);
}

std::unique_ptr<instance> instance::create(const std::string& path, const scute_options& o,
                                           foreign_request* foreign) {
  const auto start = clock::now();
  // Throws before anything is created.
  const pool::geometry geo = plan(o, foreign, false).geo;
  if ((o.flags & SCUTE_READONLY) != 0)
    throw failure(SCUTE_E_INVALID, "a new pool cannot be read-only");
  if (o.layout != nullptr && std::strlen(o.layout) >= sizeof(format::superblock::layout))
    throw failure(SCUTE_E_RANGE, "the layout name is longer than 63 bytes");
  std::optional<replaced_pool> old;
  // A caller that replaces a foreign pool has the old one locked.
  if ((o.flags & SCUTE_OVERWRITE) != 0)
    old = foreign != nullptr ? foreign->replaced : check_overwrite(path);
  const bool replace = old.has_value();
  if (replace && old->sb)
    name_log_of(path, *old->sb);  // the old pool stays complete until it is replaced
  const medium::ownership as = owner_of_new(path, o, foreign, replace);
  medium::new_file making(path, as, replace);
  auto file = making.open(geo.file_size);
  file.require_room(pool::structures_size(geo), "the structure of a pool of that size");
  progress_adapter adapter{o.progress, o.progress_arg};
  if ((o.flags & SCUTE_PREALLOCATE) != 0)
    file.reserve_all(o.progress != nullptr ? &progress_adapter::call : nullptr, &adapter);
  auto mapped = medium::map_file(std::move(file), o.medium, medium::access::write);
  auto paths = medium::log_paths_of(path, as, replace ? std::optional(old->uuid()) : std::nullopt);
  const bool apart = paths != nullptr && paths->is_wanted(*mapped);
  if (!apart && pool::choose_engine(o, false).log_in_chunks && foreign == nullptr)
    engine::require_room_for_log(o);
  auto in = format(std::move(mapped), path, o, nullptr, std::move(paths), foreign);
  // GUARDED-2: a process that opens the file at this moment holds the old pool's lock
  guard_lock alone;
  if (foreign != nullptr && replace) static_cast<void>(alone.take(path.c_str()));
  try {
    making.publish();
  } catch (...) {
    in->forget_log();
    throw;
  }
  in->name_log();
  in->open_ns = since(start);
  return in;
}

std::unique_ptr<instance> instance::format(std::unique_ptr<medium::medium> m,
                                           const std::string& path, const scute_options& o,
                                           const std::byte* identity,
                                           std::unique_ptr<medium::log_paths> paths,
                                           foreign_request* foreign) {
  std::unique_ptr<instance> in(new instance());
  in->adopt(std::move(m), path);
  in->s.log_paths = std::move(paths);
  pool::state& s = in->s;
  const pool::foreign_plan p = plan(o, foreign, in->wants_log_file());
  s.geo = p.geo;
  auto& sb = s.sb;
  std::memcpy(sb.magic, format::magic, sizeof sb.magic);
  sb.version = format::version;
  sb.checksum_kind = static_cast<uint32_t>(o.checksum);
  do {
    std::byte fresh[identity_size];
    if (identity == nullptr) random_bytes(fresh, sizeof fresh);
    const std::byte* from = identity != nullptr ? identity : fresh;
    std::memcpy(sb.uuid, from, sizeof sb.uuid);
    std::memcpy(&sb.tag, from + sizeof sb.uuid, sizeof sb.tag);
  } while (sb.tag == 0 && identity == nullptr);  // so that no oid is ever null
  SCUTE_ASSERT(sb.tag != 0);
  if (o.layout != nullptr) std::strncpy(sb.layout, o.layout, sizeof sb.layout - 1);
  const auto& g = s.geo;
  sb.file_size = g.file_size;
  sb.lanes_offset = g.lanes_offset;
  sb.lane_size = g.lane_size;
  sb.lane_count = g.lane_count;
  sb.lane_replicas = g.lane_replicas;
  sb.zones_offset = g.zones_offset;
  sb.zone_size = g.zone_size;
  sb.row_size = g.row_size;
  sb.zone_count = g.zone_count;
  sb.rows = g.rows;
  sb.parity = g.parity;
  sb.chunk_size = g.chunk_size;
  sb.protection = static_cast<uint32_t>(pool::level_of(o));
  const pool::engine_facts& chosen = pool::choose_engine(o, in->wants_log_file());
  engine::require_log_to_cap(path, chosen, o.log_cap);
  sb.engine =
      static_cast<uint32_t>(chosen.log_in_chunks ? pool::lender_of_logs(sb.parity).id : chosen.id);
  sb.epoch = 1;
  pool::number_session(s, sb.epoch);
  medium::file_identity before;
  if (foreign != nullptr) {
    sb.foreign = p.record;
    sb.incompat |= format::incompat_foreign;
    s.foreign = pool::read_foreign(sb, g);
    s.user = std::move(foreign->file);
    // A private copy: this session stores nothing in the file, whatever happens to it meanwhile.
    s.user->join(*s.medium, s.foreign->segments(g), sb.foreign.size,
                 medium::medium::sharing::as_copy);
  }
  in->assemble();

  pool::reserve_structures(s);
  if (s.foreign) {
    heap::reserve_foreign_spans(s, sb.foreign.size);  // which changes the file's times
    before = foreign->seen = medium::look_when_still(*s.user);
  }
  in->watch_pages(o);
  // The file reads as zeros, and zeros are consistent. Other bytes are written through the columns,
  // so that their parity is written too. The superblock, written last, makes the file a pool.
  pool::lane& l = s.lanes.front();
  std::vector<format::zone_descriptor> zones(g.zone_count);
  std::vector<pool::patch> patches;
  for (uint64_t z = 0; z < g.zone_count; ++z) {
    zones[z] = {};
    zones[z].index = z;
    if (s.foreign) zones[z].high_water = s.foreign->high_water(g, z, sb.foreign.size);
    pool::seal_metadata(s, l, g.zone_offset(z), format::type_zone, zones[z]);
    patches.push_back({g.zone_offset(z), &zones[z], sizeof zones[z], medium::purpose::metadata});
  }
  format::root_anchor anchor{};
  if (s.foreign) anchor.oid = s.oid_of(s.foreign->payload_offset(g, 0));
  const uint64_t anchor_at = g.zone_offset(0) + format::zone_anchor_offset;
  pool::seal_metadata(s, l, anchor_at, format::type_anchor, anchor);
  patches.push_back({anchor_at, &anchor, sizeof anchor, medium::purpose::metadata});
  in->engine->write_unlogged(l, patches);
  if (s.foreign) heap::make_foreign_spans(s, l, sb.foreign.size, o.progress, o.progress_arg);
  l.w.fence(fence_site::create);
  if (s.foreign) {
    const bool opens = sb.foreign.guard != 0 && s.user->mode() == 0;  // others may try to open it
    if (!medium::is_same(s.user->look(), before, opens))
      throw failure(
          SCUTE_E_CONFLICT,
          s.user->path() +
              " was changed while its checksums were made; try again when no process writes to it");
    s.user->join(*s.medium, s.foreign->segments(g), sb.foreign.size,
                 medium::medium::sharing::shared);
  }
  s.require_healthy();
  if (!chosen.log_in_chunks) pool::write_superblock(s.service_alone(), sb);
  s.require_healthy();
  in->take_options(o);
  in->engine->start();
  try {
    if (chosen.log_in_chunks) in->switch_engine(chosen, o.log_cap);  // and writes it
    in->open_ = true;
    in->start_threads(false);
    if (s.policy == SCUTE_POLICY_SCRUB && !s.read_only) in->scrubs.begin_policy(s.scrub_every);
  } catch (...) {
    in->forget_log();
    throw;
  }
  return in;
}

void instance::forget_log() noexcept {
  if ((s.sb.incompat & format::incompat_log_file) == 0) return;
  const int keep = errno;
  s.log_paths->remove(medium::log_paths::name::coming);
  errno = keep;
}

void instance::start_threads(bool scan) {
  if (s.medium->what() == medium::kind::simulated) return;
  if (scan) resolving.start();
  if (engine->has_background() && !s.read_only) idle.start();
}

void instance::drain() {
  for (pool::lane& l : s.lanes) engine->drain(l);
}

void instance::close() {
  scrubs.close();
  resolving.stop();
  idle.stop();
  if (!open_) return;  // abandoned
  open_ = false;
  end_life();
  for (auto& t : transactions)
    if (t.depth != 0) t.abort();
  s.events.notify_all(s);
  if (s.read_only) return;
  s.require_healthy();
  heap->clear_chunk_cache(s.lanes.front());
  drain();
  s.require_healthy();
  // Chunks that could not be taken back for want of memory: the next open does it, as after a
  // crash.
  if (heap->lent() != 0) return;
  note_user_file();
  engine->closing();
  s.sb.clean = 1;
  // Otherwise the next session continues the resolution.
  if (!s.resolving->pending()) s.sb.resolved_epoch = s.sb.epoch;
  pool::write_superblock(s.service_alone(), s.sb);
  s.require_healthy();
  engine->closed();
  s.events.notify_all(s);  // a superblock page may have been lost just now
}

uint64_t instance::root(uint64_t size, uint32_t type) {
  const locked hold(root_mutex_);
  const uint64_t at = s.geo.zone_offset(0) + format::zone_anchor_offset;
  auto anchor = repair::read_metadata<format::root_anchor>(s, nullptr, at, format::type_anchor,
                                                           "root anchor");
  if (anchor.oid != 0) {
    const heap::object o = heap->zones().locate(tx::payload_of(s, anchor.oid));
    const auto h = tx::live_header(s, nullptr, o);
    if (format::meta_size(h.meta) < size)
      throw failure(SCUTE_E_RANGE,
                    "the root object of " + s.path + " has " +
                        std::to_string(format::meta_size(h.meta)) + " bytes, fewer than the " +
                        std::to_string(size) +
                        " requested; it was created by another version of the program");
    return anchor.oid;
  }
  if (size == 0)
    throw failure(SCUTE_E_NOENT, s.path + " has no root object yet; give its size to create it");
  tx::transaction& t = acquire();
  try {
    t.begin();
    const uint64_t oid = t.alloc(size, type, nullptr);
    t.set_anchor(at, oid);
    t.commit();
    release(t);
    return oid;
  } catch (...) {
    release(t);
    throw;
  }
}

// ---- lanes --------------------------------------------------------------------------------------

tx::transaction& instance::acquire() {
  thread_state& me = this_thread();
  const int hint = me.last_pool == serial ? me.last_lane : -1;
  const auto lane = static_cast<int>(leases_.acquire(me, hint));
  if (lane != hint) [[unlikely]] {
    me.last_lane = lane;
    me.last_pool = serial;
    me.last_transaction = &transactions[static_cast<size_t>(lane)];
  }
  return *me.last_transaction;
}

void instance::release(tx::transaction& t) noexcept {
  scrubs.count(t.lane());
  lane_leases::release(known_thread());
}

bool instance::with_idle_lane(uint32_t lane, const std::function<void(pool::lane&)>& fn) {
  thread_state& me = this_thread();
  if (!leases_.try_acquire(me, lane)) return false;
  struct end {
    thread_state& me;
    ~end() { lane_leases::release(me); }
  } const when_done{me};
  fn(s.lanes[lane]);
  return true;
}

}  // namespace scute::core

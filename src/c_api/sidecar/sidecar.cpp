// SPDX-License-Identifier: BSD-3-Clause
#include <scute/shield_room.h>

#include <cstring>
#include <vector>

#include "c_api/pool/arguments.hpp"
#include "c_api/pool/guard.hpp"
#include "core/medium/user_file.hpp"
#include "shield/sidecar/foreign_file.hpp"
#include "shield/sidecar/making.hpp"
#include "shield/sidecar/outlook.hpp"

using namespace scute::core;

namespace {

shield::making making_of(uint64_t capacity, uint32_t flags) {
  if ((flags & ~uint32_t{SCUTE_SHIELD_GUARD | SCUTE_SHIELD_KEEP}) != 0)
    throw failure(SCUTE_E_INVALID, "flags has unknown bits");
  return {capacity, (flags & SCUTE_SHIELD_GUARD) != 0};
}

void require_sized(const scute_shield_state* state) {
  if (state->struct_size < sizeof(size_t) || state->struct_size > size_t{4} * sizeof *state)
    throw failure(SCUTE_E_INVALID,
                  "state->struct_size is not set; assign sizeof(*state) before the call");
}

// Copies as much as the caller's struct has room for.
void give(const scute_shield_state& from, scute_shield_state* to) {
  scute_shield_state all = from;
  all.struct_size = to->struct_size;
  std::memcpy(to, &all, std::min(to->struct_size, sizeof all));
}

}  // namespace

extern "C" {

int scute_shield_add(const char* file, const scute_options* options, uint64_t capacity,
                     uint32_t flags) {
  const uncancelled now;
  return c_api::guarded([&] {
    c_api::need_path(file);
    shield::add(file, c_api::normalise(options, c_api::options_for::a_new_pool),
                making_of(capacity, flags));
    this_thread().refresh();
  });
}

int scute_shield_adopt(const char* file, const scute_options* options, uint64_t capacity,
                       uint32_t flags) {
  const uncancelled now;
  return c_api::guarded([&] {
    c_api::need_path(file);
    shield::adopt(file, c_api::normalise(options, c_api::options_for::a_new_pool),
                  making_of(capacity, flags),
                  options == nullptr || (flags & SCUTE_SHIELD_KEEP) != 0);
    this_thread().refresh();
  });
}

int scute_shield_remove(const char* file, const scute_options* options) {
  const uncancelled now;
  return c_api::guarded([&] {
    c_api::need_path(file);
    const scute_options o = c_api::normalise(options, c_api::options_for::an_existing_pool);
    if ((o.flags & SCUTE_READONLY) != 0)
      throw failure(SCUTE_E_READONLY, "with SCUTE_READONLY a file stays under the shield");
    shield::remove(file, o);
    this_thread().refresh();
  });
}

int scute_shield_open(const char* file, const scute_options* options, scute_pool** pool) {
  const uncancelled now;
  std::string sidecar;
  const int e = c_api::guarded([&] {
    c_api::need_path(file);
    c_api::need_out(pool, "pool");
    sidecar = shield::protection_of(file);
  });
  return e != SCUTE_OK ? e : scute_open(sidecar.c_str(), options, pool);
}

int scute_shield_info(scute_pool* pool, scute_shield_state* state) {
  return c_api::guarded(pool, [&] {
    const pool::state& s = c_api::need(pool).s;
    c_api::need_out(state, "state");
    require_sized(state);
    scute_shield_state now{};
    if (s.foreign) {
      now.size = s.sb.foreign.size;
      now.capacity = s.foreign->capacity(s.geo);
      now.inode = s.user->look().inode;
      now.rows = s.sb.foreign.rows;
      now.guard = s.sb.foreign.guard & 0777;
      now.segments = s.geo.zone_count;
      std::strncpy(now.file, s.user->path().c_str(), sizeof now.file - 1);
    }
    give(now, state);
  });
}

int scute_shield_look(const char* file, scute_shield_condition* condition,
                      scute_shield_state* state) {
  const uncancelled now;
  return c_api::guarded([&] {
    c_api::need_path(file);
    c_api::need_out(condition, "condition");
    if (state != nullptr) require_sized(state);
    const shield::outlook o = shield::look(file);
    *condition = o.condition;
    if (state == nullptr) return;
    scute_shield_state answer{};
    answer.size = o.sb.foreign.size;
    answer.capacity = o.sb.foreign.share * o.sb.zone_count;
    answer.inode = o.now.inode;
    answer.rows = o.sb.foreign.rows;
    answer.guard = o.sb.foreign.guard & 0777;
    answer.segments = static_cast<uint32_t>(o.sb.zone_count);
    std::strncpy(answer.file, o.file.c_str(), sizeof answer.file - 1);
    give(answer, state);
  });
}

int scute_shield_locate(scute_pool* pool, uint64_t offset, scute_oid* oid, uint64_t* at,
                        uint64_t* length) {
  return c_api::guarded(pool, [&] {
    const auto p = shield::foreign_file(c_api::need(pool)).locate(offset);
    if (oid != nullptr) *oid = p.oid;
    if (at != nullptr) *at = p.offset;
    if (length != nullptr) *length = p.length;
  });
}

int scute_shield_read(scute_pool* pool, uint64_t offset, void* to, uint64_t n) {
  return c_api::guarded(pool, [&] {
    shield::foreign_file f(c_api::need(pool));
    this_thread().refresh();
    if (n != 0) c_api::need_out(static_cast<char*>(to), "to");
    f.read(offset, to, n);
  });
}

int scute_shield_write(scute_pool* pool, const scute_shield_change* changes, size_t count) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    shield::foreign_file f(c_api::need(pool));
    this_thread().refresh();
    if (count != 0) c_api::need_out(changes, "changes");
    std::vector<shield::foreign_file::change> all;
    all.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (changes[i].length != 0)
        c_api::need_out(static_cast<const char*>(changes[i].bytes), "changes->bytes");
      all.push_back({changes[i].offset, changes[i].bytes, changes[i].length});
    }
    f.commit(all);
  });
}

int scute_shield_replace(scute_pool* pool, const scute_shield_replacement* changes, size_t count) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    shield::foreign_file f(c_api::need(pool));
    this_thread().refresh();
    if (count != 0) c_api::need_out(changes, "changes");
    for (size_t i = 0; i < count; ++i) {
      if (changes[i].length == 0) continue;
      c_api::need_out(static_cast<const char*>(changes[i].bytes), "changes->bytes");
      c_api::need_out(static_cast<const char*>(changes[i].old), "changes->old");
    }
    f.replace({changes, count});
  });
}

int scute_shield_grow(scute_pool* pool, uint64_t size) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    shield::foreign_file f(c_api::need(pool));
    this_thread().refresh();
    f.grow(size);
  });
}

int scute_shield_reserve(scute_pool* pool, uint64_t size) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    shield::foreign_file f(c_api::need(pool));
    this_thread().refresh();
    f.reserve(size);
  });
}

}  // extern "C"

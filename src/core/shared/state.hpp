// SPDX-License-Identifier: BSD-3-Clause
// What every part of the core knows of an open pool: the mapping, the geometry, the lanes and the
// locks. Behaviour is in the folders above.
#pragma once

#include <array>
#include <cerrno>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "base/locks/waiting.hpp"
#include "codec/checksum/checksum.hpp"
#include "core/layout/engines.hpp"
#include "core/layout/foreign.hpp"
#include "core/layout/geometry.hpp"
#include "core/medium/log_paths.hpp"
#include "core/medium/medium.hpp"
#include "core/medium/user_file.hpp"
#include "core/shared/accounting.hpp"
#include "core/shared/idle_watch.hpp"
#include "core/shared/lane.hpp"
#include "core/shared/object_locks.hpp"
#include "core/shared/parity/erasure_hints.hpp"
#include "core/shared/parity/failed_searches.hpp"
#include "core/shared/parity/overlays.hpp"
#include "core/shared/parity/stripes.hpp"
#include "core/shared/pool/event_log.hpp"
#include "core/shared/pool/lost_log_pages.hpp"
#include "core/shared/prewritten.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::pool {

// The memory of the repairs in an open pool (core/repair/repair.hpp).
struct repair_memory {
  erasure_hints hints;
  failed_searches failed;
  std::array<waiting_mutex, 16> locks;  // by fragment; two repairs of one fragment take turns
};

struct state {
  std::string path;
  std::unique_ptr<medium::user_file> user;  // of a foreign pool; its medium has parts of it
  std::unique_ptr<medium::medium> medium;
  std::unique_ptr<medium::log_paths> log_paths;  // where a log of its own may lie; null: nowhere
  format::superblock sb{};
  geometry geo;
  std::optional<foreign_layout> foreign;  // core/layout/foreign.hpp
  uint64_t salt = 0;
  uint64_t oid_tag = 0;  // in the high 16 bits

  bool read_only = false;
  bool has_parity = false;
  bool parity_is_log = false;   // core/layout/engines.hpp
  bool takes_small = false;     // core/layout/engines.hpp: short path for changed and new objects
  bool takes_in_place = false;  // the same for ranges in place
  bool plain_encoding =
      false;  // SCUTE_PLAIN_ENCODING: the kernels of log-free commits not pipelined
  scute_policy policy = SCUTE_POLICY_DEFAULT;  // of this session
  uint64_t scrub_every = 0;
  uint32_t flags = 0;  // SCUTE_*, as given
  std::atomic<bool> verify_on_read{
      false};  // objects are verified when they are handed out: core/tx/verify.hpp
  accounting account;

  bool has_checksums = false;  // of object payloads; headers and metadata always have them
  codec::checksum_kind checksum = codec::checksum_kind::crc32c;

  std::deque<lane> lanes;
  stripes locks;
  object_locks locked_objects;
  overlays overlaid;
  prewritten being_prewritten;
  idle_watch watch;
  lost_log_pages lost_log;
  repair_memory repairs;
  resolver* resolving = &nothing_to_resolve;

  // Rows of a zone beyond this offset hold nothing but zeros, so columns need not read them.
  // Grows before the first byte beyond it is written.
  std::deque<std::atomic<uint64_t>> used_end;

  // For writes outside transactions (superblock, repair by threads without a lane).
  waiting_mutex service_mutex;
  std::unique_ptr<medium::writer> service SCUTE_PT_GUARDED_BY(service_mutex);
  // While the pool is opened or closed: no other thread writes.
  medium::writer& service_alone() const noexcept SCUTE_NO_LOCK_ANALYSIS { return *service; }
  // Counters can be read at any time.
  const medium::counters& service_count() const noexcept SCUTE_NO_LOCK_ANALYSIS {
    return service->count;
  }

  std::atomic<uint64_t> repaired{0}, lost{0};
  std::atomic<uint64_t> losses{0};  // of `lost` the objects and structures
  event_log events;
  std::atomic<uint64_t> verified_outside{0};  // object bytes verified by threads without a lane

  std::byte* at(uint64_t offset) const noexcept { return medium->base() + offset; }
  uint64_t oid_of(uint64_t payload_offset) const noexcept { return payload_offset | oid_tag; }

  // Sets the engine that the pool has from now on. has_checksums must be known.
  void know_engine(const engine_facts& e) noexcept {
    parity_is_log = e.parity_is_log;
    takes_small = e.takes_small || (e.takes_unchecked && !has_checksums);
    takes_in_place = e.takes_small;
  }
  // To be called before any write and after each decisive fence: once a fence has failed, the
  // file's contents are unknown.
  void require_healthy() const {
    if (!medium->failed()) return;
    errno = medium->failure();  // of the fence that failed, however long ago
    throw failure(SCUTE_E_IO, path +
                                  ": an earlier write could not be made durable; close the pool, "
                                  "repair the device and open it again (recovery decides "
                                  "what survived)");
  }
};

}  // namespace scute::core::pool

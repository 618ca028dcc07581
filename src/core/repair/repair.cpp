// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/repair.hpp"

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/repair/erasure/bitflip_search.hpp"
#include "core/repair/erasure/erasure_decoder.hpp"
#include "core/repair/erasure/erasure_search.hpp"
#include "core/repair/erasure/hybrid_decode.hpp"
#include "core/shared/commits_under_way.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/pool/zone_usage.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::repair {

pool::event event_of(const pool::state& s, const pool::fragment& f, scute_outcome outcome,
                     bool unused) {
  const auto kind = f.metadata ? SCUTE_EVENT_STRUCTURE
                    : unused   ? SCUTE_EVENT_FREE
                               : SCUTE_EVENT_OBJECT;
  pool::event e{kind, outcome, scute_finder{}, f.header, format::header_size};
  if (unused) return e;
  e.length += f.room;
  // The payloads of an object's fragments follow each other.
  if (!f.metadata) e.object = s.oid_of(f.payload - f.index * format::fragment_payload);
  return e;
}

void report_lost(pool::state& s, pool::lane* by, const pool::fragment& f) {
  if (by != nullptr) by->w.count.losses.add(1);
  s.lost.fetch_add(1, std::memory_order_relaxed);
  s.losses.fetch_add(1, std::memory_order_relaxed);
  s.events.post(event_of(s, f, SCUTE_OUTCOME_LOST, false));
}

namespace {

[[noreturn]] void give_up(pool::state& s, pool::lane* by, const pool::fragment& f, const char* what,
                          on_loss then, const std::string& why) {
  if (then == on_loss::report) report_lost(s, by, f);
  throw failure(SCUTE_E_CORRUPT,
                s.path + ": " + what + " at file offset " + std::to_string(f.header) +
                    (f.index != 0 ? " (fragment " + std::to_string(f.index) + ")" : "") +
                    " is damaged and cannot be rebuilt: " + why +
                    ". The rest of the pool stays usable; `scute check` lists all losses");
}

}  // namespace

namespace {

struct outcome {
  bool repaired = false;  // something was written
  bool unused = false;    // the fragment is free; known if repaired
  bool again = false;     // the page of the header was lost meanwhile (pool::written_back)
};

// Called with the fragment's lock. repaired: an earlier call has written something.
outcome repair_once(pool::state& s, pool::lane* by, const pool::fragment& f, const char* what,
                    on_loss then, bool repaired) {
  if (pool::valid(s, f)) return {};  // another thread was faster
  // Another program may have truncated the user's file, or punched holes in it: bytes that are
  // stored after its end are lost with the next write-back.
  if (s.foreign) s.medium->reserve(f.payload, f.room);
  if (!s.has_parity) {
    give_up(s, by, f, what, then, "the pool has no parity (protection below mlp)");
  }

  const std::vector<unit> units = units_of(f);
  const size_t size = units.back().at + units.back().length;
  std::vector<std::byte> kept(size), decoded(size), image(size);
  const auto look = [&](std::vector<std::byte>& to) {
    const pool::optimistic_reads mark;
    for (const unit& u : units) {
      std::memcpy(to.data() + u.at, s.at(u.offset), u.length);
      s.overlaid.substitute(u.offset, to.data() + u.at, u.length);
    }
  };
  // REPAIR-4: a fragment may look damaged because a commit is writing it, if the caller reads
  // without the lock that it should hold. Then its bytes change between two looks, and settle.
  for (int attempt = 0;; ++attempt) {
    look(kept);
    const auto with = [&](const pool::decoding& how) {
      for (const unit& u : units)
        if (!pool::decode(s, u.offset, decoded.data() + u.at, u.length, how)) return false;
      if (!hybrid_decode(s, f, units, kept, decoded).find(image)) return false;
      note_damage(s, f, how, s.repairs.hints);
      return true;
    };
    if (erasure_decoder(s, f).any(with) || find_bitflips(s, f, image, &s.repairs.failed) ||
        find_erasures(s, f, &s.repairs.hints, image))
      break;
    // REPAIR-6
    const bool quiet =
        s.parity_is_log ||
        pool::let_commits_end(s, by, std::chrono::steady_clock::now() + pool::patience);
    look(image);
    if (image_valid(s, f, image)) return {};
    s.require_healthy();
    if (attempt < (quiet ? 100 : 5) && (image != kept || !quiet)) continue;
    give_up(s, by, f, what, then,
            "its columns hold more damage than " +
                (s.geo.parity == 1 ? "one row of parity"
                                   : std::to_string(s.geo.parity) + " rows of parity") +
                " can repair");
  }
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  size_t sure = format::header_size + pool::covered(s, f, h);
  // Without checksums of payloads, the payload next to a lost header was probably lost with it. If
  // it was not, its columns decode to the same bytes.
  if (!s.has_checksums && format::meta_role(h.meta) == format::role::live)
    sure = format::header_size + std::min<uint64_t>(format::meta_size(h.meta), f.room);
  const pool::seen_headers headers{f.header, kept.data(), image.data()};
  // Bytes that a transaction has stored in place are left alone. If nothing is written in the end,
  // it was a running commit, and no damage (REPAIR-4).
  const auto restore = [&](medium::writer& w) {
    outcome done;
    for (const unit& u : units) {
      if (u.at >= sure) continue;
      const size_t n = std::min(u.length, sure - u.at);
      const pool::written_back now =
          pool::write_back(s, w, headers, u.offset, kept.data() + u.at, image.data() + u.at, n);
      done.repaired = done.repaired || now.some;
      done.again = done.again || now.header_lost;
    }
    w.fence(fence_site::repair);
    if ((done.repaired || repaired) && !done.again) w.count.repairs.add(1);
    return done;
  };
  outcome done;
  if (by != nullptr) {
    done = restore(by->w);
  } else {
    const locked service(s.service_mutex);
    done = restore(*s.service);
  }
  s.require_healthy();
  done.unused = format::meta_role(h.meta) == format::role::free;
  return done;
}

}  // namespace

void repair_fragment(pool::state& s, pool::lane* by, const pool::fragment& f, const char* what,
                     on_loss then) {
  // The fragment may be torn rather than damaged; and no column that a crash has left open is
  // decoded.
  if (s.resolving->pending())
    for (const unit& u : units_of(f)) s.resolving->before_write(u.offset, u.length);
  const locked hold(s.repairs.locks[f.header / 64 % s.repairs.locks.size()]);
  outcome all;
  for (int turn = 0;; ++turn) {
    const outcome now = repair_once(s, by, f, what, then, all.repaired);
    if (now.repaired) all = now;
    if (!now.again) break;
    // Each turn begins with a read of the header, which rebuilds its page.
    if (turn == 1000)
      give_up(s, by, f, what, then, "the page of its header is lost again and again");
  }
  if (!all.repaired) return;
  s.repaired.fetch_add(1, std::memory_order_relaxed);
  s.events.post(event_of(s, f, SCUTE_OUTCOME_REPAIRED, all.unused));
}

void repair_descriptor(pool::state& s, uint64_t zone) {
  const uint64_t at = s.geo.zone_offset(zone);
  const pool::fragment f = pool::metadata_fragment(at, format::type_zone);
  if (!s.has_parity || pool::valid(s, f)) return;
  const uint64_t before = s.used_end[zone].load();
  for (uint64_t rows = 1; rows <= s.geo.rows; ++rows) {
    s.used_end[zone].store(rows * s.geo.row_size);
    format::zone_descriptor d;
    std::vector<std::byte> image;
    if (s.geo.parity > 1 && erasure_search(s, f, &s.repairs.hints).find(image))
      std::memcpy(&d, image.data(), sizeof d);
    else
      pool::decode(s, at, reinterpret_cast<std::byte*>(&d), sizeof d);
    if (!pool::valid(s, f, d.header, reinterpret_cast<const std::byte*>(&d) + format::header_size))
      continue;
    pool::set_used_end(s, zone, std::min(d.high_water, s.geo.chunks));
    try {
      return repair_fragment(s, nullptr, f, "zone descriptor");
    } catch (const failure& e) {
      // It decodes without rows that count, and not with them: one of those rows is damaged.
      if (e.code() != SCUTE_E_CORRUPT) throw;
      break;
    }
  }
  s.used_end[zone].store(before);
}

}  // namespace scute::core::repair

// SPDX-License-Identifier: BSD-3-Clause
#include "heal/enumeration.hpp"

#include <cstring>
#include <string>

#include "base/planted.hpp"
#include "heal/certainty.hpp"
#include "mend/repair.hpp"
#include "pool/optimistic.hpp"
#include "tx/claim_guard.hpp"

namespace scute::core::heal {
namespace {

// Of a chunk as it is before anything is made of it (SIGHT-1).
sighting sight(heap::chunk_record& c, heap::use use) noexcept {
  sighting g;
  g.chunk = &c;
  g.use = use;
  g.generation = c.generation;
  g.slot_size = c.slot_size.load(std::memory_order_acquire);
  g.length = c.length.load(std::memory_order_acquire);
  return g;
}

bool is_of(const format::fragment_header& h, uint32_t type) noexcept {
  return format::meta_role(h.meta) == format::role::live &&
         (type == SCUTE_TYPE_ANY || h.type == type);
}

}  // namespace

scute_oid enumeration::search(uint64_t zone, uint32_t chunk, uint32_t slot, uint32_t type) {
  auto& zones = heap_.zones();
  for (; zone < zones.count(); ++zone, chunk = 0, slot = 0) {
    heap::zone& z = zones.get(zone);
    for (; chunk < z.high_water.load(std::memory_order_acquire); ++chunk, slot = 0) {
      heap::chunk_record& c = z.chunks[chunk];
      const heap::use use = c.kind.load(std::memory_order_acquire);
      if (use != heap::use::run && use != heap::use::span) continue;
      const sighting seen = sight(c, use);
      const uint32_t n = use == heap::use::run ? c.formatted.load(std::memory_order_acquire) : 1;
      for (; slot < n; ++slot) {
        const heap::object o =
            use == heap::use::run ? zones.slot_object(c, slot) : zones.span_object(c);
        if (is_live(o, seen, type)) return s_.oid_of(o.payload);
      }
    }
  }
  conclude(type);
  return SCUTE_OID_NULL;
}

bool enumeration::is_live(const heap::object& o, const sighting& seen, uint32_t type) {
  const pool::fragment f = o.fragment(0);
  format::fragment_header h = heap_.zones().read_header(o);
  const uint32_t n = pool::covered(s_, f, h);
  if (SCUTE_PLANTED(enumeration_check)) return n != pool::not_covered && is_of(h, type);
  if (n != pool::not_covered && pool::valid(s_, f)) {
    // Of this moment or a later commit's, and whole.
    h = heap_.zones().read_header(o);
    s_.verified_outside.fetch_add(n, std::memory_order_relaxed);
    return pool::covered(s_, f, h) != pool::not_covered && is_of(h, type);
  }
  if (learn(o, seen, f, h)) return is_of(h, type);
  return pool::covered(s_, f, h) != pool::not_covered && is_of(h, type);  // ENUM-2
}

// What the slot of a header that looks damaged holds. False if nobody can tell; h is what is stored then.
bool enumeration::learn(const heap::object& o, const sighting& seen, const pool::fragment& f,
                        format::fragment_header& h) {
  sighting g = seen;
  g.f = f;
  g.first = o.header;
  g.slot = o.slot;
  {
    const locked hold(mutex_);
    const auto known = untold_.find(f.header);
    if (known != untold_.end() && known->second.repairs == s_.repaired.load() &&
        !pool::valid(s_, f))
      return false;
  }
  if (examine(s_, g) == certainty::damaged) {
    try {
      const tx::repair_claim mine(s_, nullptr, o.payload);  // CLAIM-3
      mend::repair(s_, nullptr, f, "object", mend::on_loss::leave);
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_CORRUPT) throw;
      // Its chunk may have got another use meanwhile, or a commit have ended.
      if (examine(s_, g) == certainty::damaged) {
        mend::tell_lost(s_, nullptr, f);
        const locked hold(mutex_);
        untold_[f.header] = {g, s_.repaired.load()};
        h = heap_.zones().read_header(o);
        return false;
      }
    }
  }
  h = heap_.zones().read_header(o);
  // Otherwise the chunk has got another use meanwhile, and holds nothing that was here before.
  if (pool::covered(s_, f, h) == pool::not_covered) h.meta = 0;
  return true;
}

// ENUM-3
void enumeration::conclude(uint32_t type) {
  uint64_t slots = 0, chunks = 0, first = 0;
  {
    const locked hold(mutex_);
    for (auto it = untold_.begin(); it != untold_.end();) {
      const pool::fragment& f = it->second.where.f;
      if (!still_there(it->second.where) || pool::valid(s_, f)) {
        it = untold_.erase(it);
        continue;
      }
      const pool::optimistic_reads mark;
      format::fragment_header h;
      std::memcpy(&h, s_.at(f.header), sizeof h);
      if (pool::covered(s_, f, h) == pool::not_covered || !is_of(h, type)) {
        if (slots++ == 0) first = f.header;
      }
      ++it;
    }
  }
  auto& zones = heap_.zones();
  for (uint64_t z = 0; z < zones.count(); ++z) {
    if (!zones.is_loaded(z)) continue;
    const heap::zone& zn = zones.get(z);
    for (uint32_t i = 0; i < zn.high_water.load(std::memory_order_acquire); ++i) {
      if (zn.chunks[i].kind.load(std::memory_order_acquire) != heap::use::lost) continue;
      if (chunks++ == 0 && slots == 0) first = s_.geo.chunk_header_offset(z, i);
    }
  }
  if (slots == 0 && chunks == 0) return;
  std::string what;
  if (slots != 0)
    what = std::to_string(slots) + (slots == 1 ? " slot" : " slots") +
           " that may hold an object of this type";
  if (chunks != 0)
    what += std::string(what.empty() ? "" : ", and ") + std::to_string(chunks) +
            (chunks == 1 ? " chunk" : " chunks") + " of objects";
  throw failure(SCUTE_E_CORRUPT, s_.path + ": not all objects could be told; the headers of " +
                                     what +
                                     " are damaged beyond repair, the first at file offset " +
                                     std::to_string(first) + ". `scute check` lists all losses");
}

}  // namespace scute::core::heal

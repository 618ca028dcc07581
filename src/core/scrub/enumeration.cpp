// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/enumeration.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/locks/waiting.hpp"
#include "core/repair/repair.hpp"
#include "core/scrub/damage_classifier.hpp"
#include "core/shared/optimistic.hpp"
#include "core/tx/object_lock_guard.hpp"

namespace scute::core::scrub {
namespace {

// A reference with the chunk's record as it is read now (FRAGREF-1).
fragment_ref ref_of(heap::chunk_record& c, heap::use use) noexcept {
  fragment_ref g;
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
  if (zone == 0 && chunk == 0 && slot == 0) begin(type);
  auto& zones = heap_.zones();
  for (; zone < zones.count(); ++zone, chunk = 0, slot = 0) {
    heap::zone& z = zones.get(zone);
    for (; chunk < z.high_water.load(std::memory_order_acquire); ++chunk, slot = 0) {
      heap::chunk_record& c = z.chunks[chunk];
      const heap::use use = c.kind.load(std::memory_order_acquire);
      if (use != heap::use::run && use != heap::use::span) continue;
      const fragment_ref seen = ref_of(c, use);
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

bool enumeration::is_live(const heap::object& o, const fragment_ref& seen, uint32_t type) {
  const pool::fragment f = o.fragment(0);
  format::fragment_header h = heap_.zones().read_header(o);
  if (pool::valid(s_, f, h)) {
    s_.verified_outside.fetch_add(pool::covered(s_, f, h), std::memory_order_relaxed);
    return is_of(h, type);
  }
  fragment_ref g = seen;
  g.f = f;
  g.first = o.header;
  g.slot = o.slot;
  if (learn(g, type, h)) return is_of(h, type);
  return pool::covered(s_, f, h) != pool::not_covered && is_of(h, type);  // ENUM-2
}

// Repairs a slot that looks damaged, if it is.
enumeration::outcome enumeration::put_right(const fragment_ref& g) {
  const auto outcome_of = [](damage_class c) {
    return c == damage_class::damaged ? outcome::lost
           : c == damage_class::busy  ? outcome::busy
                                      : outcome::whole;
  };
  if (const damage_class c = classify(s_, g); c != damage_class::damaged) return outcome_of(c);
  try {
    const tx::repair_lock mine(s_, nullptr, g.object());  // OBJLOCK-3
    repair::repair_fragment(s_, nullptr, g.f, "object", repair::on_loss::leave);
    return outcome::whole;
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_CORRUPT) throw;
    // Its chunk may have got another use meanwhile, or a commit may have ended.
    return outcome_of(classify(s_, g));
  }
}

// Reads a header that its checksum accepts, which others may be writing. Returns false if it does
// not exist any more, or if no read was valid.
bool enumeration::read_sound(const fragment_ref& g, format::fragment_header& h) const {
  constexpr unsigned looks = turns_before_sleep + 16;  // 1.2 ms
  for (unsigned spins = 0, k = 0; k < looks && still_there(g); ++k, spin_pause(spins))
    if (pool::valid(s_, g.f, h)) return true;
  return false;
}

// Determines what the slot of a header that looks damaged holds. Returns false if that is
// impossible; h is the stored header then.
bool enumeration::learn(const fragment_ref& g, uint32_t type, format::fragment_header& h) {
  const uint64_t repairs = s_.repaired.load();
  outcome is = outcome::lost;
  {
    const locked hold(mutex_);
    const auto known = unreported_.find(g.f.header);
    if (known == unreported_.end() || known->second.repairs != repairs || pool::valid(s_, g.f))
      is = outcome::whole;
  }
  if (is == outcome::whole) is = put_right(g);
  if (is != outcome::lost) {
    if (read_sound(g, h)) return true;
    // The chunk has got another use meanwhile, and holds nothing that was here before.
    if (!still_there(g)) {
      h.meta = 0;
      return true;
    }
  }
  {
    const pool::optimistic_reads mark;
    std::memcpy(&h, s_.at(g.f.header), sizeof h);
  }
  const locked hold(mutex_);
  unreported& u = unreported_[g.f.header];
  u.where = g;
  u.repairs = is == outcome::lost ? repairs : ~uint64_t{0};
  if (pool::covered(s_, g.f, h) == pool::not_covered || !is_of(h, type))
    u.passed.insert(here(type));
  return false;
}

// Losses that were reported are not reported again.
void enumeration::begin(uint32_t type) {
  const locked hold(mutex_);
  const auto it = recovered_later_.find(here(type));
  if (it != recovered_later_.end() && it->second.reported) recovered_later_.erase(it);
}

// ENUM-3: tries again what other repairs may have made possible, and determines the state of the
// rest.
std::vector<std::pair<fragment_ref, enumeration::outcome>> enumeration::look_again() {
  std::vector<std::pair<fragment_ref, outcome>> seen;
  for (bool tried = true; tried;) {
    tried = false;
    std::vector<std::pair<fragment_ref, bool>> all;
    {
      const locked hold(mutex_);
      for (auto& [header, u] : unreported_) {
        const uint64_t now = s_.repaired.load();
        all.emplace_back(u.where, std::exchange(u.repairs, now) != now);
      }
    }
    seen.clear();
    for (const auto& [g, is_due] : all) {
      if (!still_there(g)) {
        seen.emplace_back(g, outcome::whole);
        continue;
      }
      const damage_class c = classify(s_, g);
      outcome is = c == damage_class::damaged ? outcome::lost
                   : c == damage_class::busy  ? outcome::busy
                                              : outcome::whole;
      if (c == damage_class::damaged && is_due) {
        is = put_right(g);
        tried = tried || is == outcome::whole;
      }
      seen.emplace_back(g, is);
    }
  }
  return seen;
}

// The number of objects that the caller's enumeration has passed over and that are whole now.
uint64_t enumeration::report_recovered(uint32_t type) {
  const auto it = recovered_later_.find(here(type));
  if (it == recovered_later_.end()) return 0;
  it->second.reported = true;
  return it->second.objects;
}

// ENUM-3
void enumeration::conclude(uint32_t type) {
  uint64_t slots = 0, chunks = 0, passed = 0, first = 0;
  std::vector<pool::fragment> lost;
  const auto seen = look_again();
  {
    const locked hold(mutex_);
    for (const auto& [g, is] : seen) {
      const auto it = unreported_.find(g.f.header);
      if (it == unreported_.end()) continue;
      unreported& u = it->second;
      format::fragment_header h;
      if (is == outcome::whole) {
        const bool known = read_sound(g, h);
        if (still_there(g))
          for (const walker& w : u.passed)
            if (!known || is_of(h, w.second))
              recovered_later_[w] = {recovered_later_[w].objects + 1, false};
        unreported_.erase(it);
        continue;
      }
      {
        const pool::optimistic_reads mark;
        std::memcpy(&h, s_.at(g.f.header), sizeof h);
      }
      if (is == outcome::lost && !std::exchange(u.reported, true)) lost.push_back(g.f);
      // (It may have been repaired since it was examined. A thread that has passed over it has done
      // so anyway.)
      const bool is_reported = pool::covered(s_, g.f, h) != pool::not_covered && is_of(h, type) &&
                               !u.passed.contains(here(type));
      if (!is_reported && slots++ == 0) first = g.f.header;
    }
    passed = report_recovered(type);
  }
  for (const pool::fragment& f : lost) repair::report_lost(s_, nullptr, f);
  auto& zones = heap_.zones();
  for (uint64_t z = 0; z < zones.count(); ++z) {
    if (!zones.is_loaded(z)) continue;
    const heap::zone& zn = zones.get(z);
    for (uint32_t i = 0; i < zn.high_water.load(std::memory_order_acquire); ++i) {
      if (zn.chunks[i].kind.load(std::memory_order_acquire) != heap::use::lost) continue;
      if (chunks++ == 0 && slots == 0) first = s_.geo.chunk_header_offset(z, i);
    }
  }
  if (slots != 0 || chunks != 0) {
    std::string what;
    if (slots != 0)
      what = std::to_string(slots) + (slots == 1 ? " slot" : " slots") +
             " that may hold an object of this type";
    if (chunks != 0)
      what += std::string(what.empty() ? "" : ", and ") + std::to_string(chunks) +
              (chunks == 1 ? " chunk" : " chunks") + " of objects";
    throw failure(SCUTE_E_CORRUPT,
                  s_.path + ": not all objects could be returned; the headers of " + what +
                      " are damaged beyond repair, the first at file offset " +
                      std::to_string(first) + ". `scute check` lists all losses");
  }
  if (passed != 0)
    throw failure(SCUTE_E_CORRUPT,
                  s_.path + ": " + std::to_string(passed) + (passed == 1 ? " object" : " objects") +
                      " could not be returned at their places in the order, and have been repaired "
                      "since. Enumerate again to get all objects");
}

}  // namespace scute::core::scrub

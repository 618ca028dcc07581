// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/suspect_repair.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "base/rounding.hpp"
#include "codec/parity/parity.hpp"
#include "core/repair/erasure/decode_candidates.hpp"
#include "core/repair/erasure/erasure_decoder.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/tx/object_lock_guard.hpp"

namespace scute::core::scrub {
namespace {

constexpr int rounds_max = 8;

}  // namespace

bool decodable(pool::state& s, const pool::fragment& f, pool::erasure_hints& hints,
               format::fragment_header& h) {
  if (!s.has_parity) return false;
  std::vector<std::byte> image;
  if (!repair::find_sound(s, f, [](uint64_t) { return false; }, image, &hints)) return false;
  std::memcpy(&h, image.data(), sizeof h);
  return true;
}

void suspect_repairer::post(scute_event_kind kind, scute_outcome what, uint64_t offset,
                            uint64_t length) {
  s_.events.post({kind, what, scute_finder{}, offset, length});
}

void suspect_repairer::repaired(uint64_t zone, const char* what, uint64_t offset, uint64_t length,
                                uint64_t oid) {
  ++repairs_;
  ++tallies_[zone].repaired;
  report_({what, offset, length, oid, true});
}

suspect_repairer::outcome suspect_repairer::fragment(uint64_t zone, const fragment_ref& g) {
  const auto known = lost_.find({zone, g.f.header});
  if (known != lost_.end() && known->second.tried == repairs_) return outcome::lost;
  switch (classify(s_, g)) {
    case damage_class::sound:
      if (known != lost_.end()) {  // another thread found a way, or it was freed
        const bool reported = known->second.reported;
        lost_.erase(known);
        if (!reported) repaired(zone, g.what(), g.f.header, format::header_size + g.f.room, 0);
      }
      return outcome::sound;
    case damage_class::busy: return outcome::busy;
    case damage_class::damaged: break;
  }
  if (g.f.index != 0) {
    // The first header says whether this part counts at all. Other threads may repair that
    // meanwhile.
    switch_point();
    fragment_ref head = g;
    head.f = g.head();
    if (!looks_sound(s_, head)) {
      const outcome o = fragment(zone, head);
      if (o == outcome::lost || o == outcome::busy) return o;
    }
    const damage_class now = classify(s_, g);
    if (now != damage_class::damaged)
      return now == damage_class::sound ? outcome::sound : outcome::busy;
  }
  return try_repair(zone, g);
}

suspect_repairer::outcome suspect_repairer::try_repair(uint64_t zone, const fragment_ref& g) {
  const uint64_t oid = g.chunk == nullptr ? 0 : s_.oid_of(g.object());
  const uint64_t length = format::header_size + g.f.room;
  const std::pair key{zone, g.f.header};
  const bool known = lost_.count(key) != 0;
  if (!repair_) {
    if (known) return outcome::lost;
    ++tallies_[zone].damaged;
    format::fragment_header h;
    if (decodable(s_, g.f, hints_, h))
      count(zone, g, h);
    else
      ++tallies_[zone].lost;
    s_.events.post(repair::event_of(s_, g.f, SCUTE_OUTCOME_DETECTED));
    report_({g.what(), g.f.header, length, oid, false});
    lost_[key] = {g, repairs_, true};
    return outcome::lost;
  }
  if (!known) ++tallies_[zone].damaged;
  try {
    // OBJLOCK-3: what a commit has determined about the object stays true until it has written it.
    std::optional<tx::repair_lock> mine;
    if (g.chunk != nullptr) mine.emplace(s_, nullptr, g.object());
    repair::repair_fragment(s_, nullptr, g.f, g.what(), repair::on_loss::leave);
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_CORRUPT) throw;
    lost_[key] = {g, repairs_};
    return outcome::lost;
  }
  // REPAIR-4: if a commit came first, nothing has been written, and the fragment may still be
  // damaged.
  if (!looks_sound(s_, g)) {
    if (!known) --tallies_[zone].damaged;
    return outcome::busy;
  }
  lost_.erase(key);
  format::fragment_header h;
  std::memcpy(&h, s_.at(g.f.header), sizeof h);
  if (g.chunk != nullptr && format::meta_role(h.meta) == format::role::free)
    repaired(zone, "free slot", g.f.header, format::header_size, 0);
  else
    repaired(zone, g.what(), g.f.header, length, oid);
  return outcome::repaired;
}

// A walker counts the objects that it finds sound. Suspects among them are counted here.
void suspect_repairer::count(uint64_t zone, const fragment_ref& g,
                             const format::fragment_header& h) {
  if (g.chunk == nullptr || g.f.index != 0 || pool::covered(s_, g.f, h) == pool::not_covered ||
      format::meta_role(h.meta) != format::role::live)
    return;
  ++tallies_[zone].objects;
  tallies_[zone].object_bytes += format::meta_size(h.meta);
}

void suspect_repairer::count_if_sound(uint64_t zone, const fragment_ref& g, outcome o) {
  if (o != outcome::sound && o != outcome::repaired) return;
  const pool::optimistic_reads mark;
  format::fragment_header h;
  std::memcpy(&h, s_.at(g.f.header), sizeof h);
  if (still_there(g)) count(zone, g, h);
}

// Whether everything that a checksum vouches for in these columns is sound, after repairs if
// necessary.
suspect_repairer::vouched suspect_repairer::vouched_for(const columns& c) {
  if (s_.being_prewritten.touches(s_.geo, c.zone, c.column, c.length)) return vouched::changing;
  const auto& g = s_.geo;
  const uint64_t end = s_.used_end[c.zone].load(std::memory_order_acquire);
  const uint64_t block = round_down(c.column, format::page);
  heap::zone& z = heap_.zones().get(c.zone);
  bool all = true, changing = false;
  std::vector<fragment_ref> odd;
  for (uint64_t r = 0; r < g.rows && r * g.row_size + block < end; ++r) {
    changing = !for_each_fragment_ref(s_, z, c.zone, r * g.row_size + block, that::touches,
                                      [&](const fragment_ref& x) {
                                        if (!looks_sound(s_, x)) odd.push_back(x);
                                      }) ||
               changing;
  }
  for (const fragment_ref& x : odd) {
    const outcome o = fragment(c.zone, x);
    all = all && (o == outcome::sound || o == outcome::repaired);
    changing = changing || o == outcome::busy;
  }
  return changing ? vouched::changing : all ? vouched::all : vouched::not_all;
}

void suspect_repairer::column(const columns& c) {
  alignas(64) std::byte before[pool::syndrome_max], after[pool::syndrome_max];
  const uint64_t size = s_.geo.parity * uint64_t{c.length};
  for (int round = 0; round < rounds_max; ++round) {
    pool::column_syndrome(s_, c.zone, c.column, c.length, before);
    if (codec::is_zero(before, size)) return;
    const vouched sure = vouched_for(c);
    pool::column_syndrome(s_, c.zone, c.column, c.length, after);
    if (codec::is_zero(after, size)) return;
    if (std::memcmp(before, after, size) != 0) continue;
    if (sure == vouched::changing) {
      suspects_[c].again = true;
      return;
    }
    if (sure == vouched::not_all) break;
    const uint64_t at =
        pool::parity_offset(s_.geo, c.zone, c.column, pool::wrong_parity(s_, after, c.length));
    if (s_.has_checksums && repair_) {
      {
        const locked hold(s_.service_mutex);
        if (!pool::repair_parity(s_, *s_.service, c.zone, c.column, c.length, after)) continue;
        s_.service->fence(fence_site::repair_parity);
      }
      s_.require_healthy();
      s_.repaired.fetch_add(1, std::memory_order_relaxed);
      ++tallies_[c.zone].damaged;
      post(SCUTE_EVENT_PARITY, SCUTE_OUTCOME_REPAIRED, at, c.length);
      repaired(c.zone, "parity", at, c.length, 0);
      return;
    }
    bool& reported = suspects_[c].reported;
    if (reported) return;
    reported = true;
    ++tallies_[c.zone].damaged;
    const bool lost = !s_.has_checksums;
    if (lost) ++tallies_[c.zone].lost;
    post(SCUTE_EVENT_PARITY, lost && repair_ ? SCUTE_OUTCOME_LOST : SCUTE_OUTCOME_DETECTED, at,
         c.length);
    report_({lost ? undecidable_column : "parity", at, c.length, 0, false});
    return;
  }
  suspects_.emplace(c, suspicion{});
}

bool suspect_repairer::begin_zone(uint64_t zone) {
  auto& zones = heap_.zones();
  if (zones.is_loaded(zone)) return true;
  const auto fixed = [&](uint64_t offset, uint32_t type) {
    fragment_ref g;
    g.f = pool::metadata_fragment(offset, type);
    g.first = offset;
    if (looks_sound(s_, g)) return true;
    const outcome o = fragment(zone, g);
    return o == outcome::sound || o == outcome::repaired;
  };
  const uint64_t at = s_.geo.zone_offset(zone);
  if (!fixed(at, format::type_zone)) return false;
  format::zone_descriptor d;
  std::memcpy(&d, s_.at(at), sizeof d);
  for (uint32_t i = 0; i < std::min(d.high_water, s_.geo.chunks); ++i)
    fixed(s_.geo.chunk_header_offset(zone, i), format::type_chunk);
  zones.get(zone);
  return true;
}

void suspect_repairer::look_into(const suspect& d) {
  if (d.length != 0) return column({d.zone, d.column, d.length});
  const outcome o = fragment(d.zone, d.g);
  if (o == outcome::busy) return busy_.push_back(d);
  count_if_sound(d.zone, d.g, o);
}

void suspect_repairer::end_zone(uint64_t zone) {
  const auto here = [zone](const suspect& d) { return d.zone == zone; };
  bool changing = false;  // other threads wrote there
  for (int round = 0; round < rounds_max; ++round) {
    const uint64_t before = repairs_;
    std::vector<suspect> again;
    std::swap(again, busy_);
    for (const suspect& d : again) {
      if (d.zone == zone)
        look_into(d);
      else
        busy_.push_back(d);
    }
    std::vector<fragment_ref> lost;
    for (const auto& [key, l] : lost_)
      if (key.first == zone) lost.push_back(l.g);
    changing = std::any_of(busy_.begin(), busy_.end(), here);
    for (const fragment_ref& g : lost) {
      const outcome now = fragment(zone, g);
      count_if_sound(zone, g, now);
      // A commit came before the repair: the fragment is not lost.
      if (now != outcome::busy) continue;
      changing = true;
      if (lost_.erase({zone, g.f.header}) != 0) busy_.push_back({.zone = zone, .g = g});
    }
    std::vector<columns> odd;
    for (const auto& [c, is] : suspects_)
      if (c.zone == zone && !is.reported) odd.push_back(c);
    for (const columns& c : odd) {
      suspects_.erase(c);
      column(c);
      const auto now = suspects_.find(c);
      changing = changing || (now != suspects_.end() && now->second.again);
    }
    if (repairs_ == before && !changing) break;
  }
  saw_all_ = saw_all_ && std::none_of(busy_.begin(), busy_.end(), here);
  for (const auto& [c, is] : suspects_) {
    if (c.zone != zone || is.reported || !is.again) continue;
    ++tallies_[zone].damaged;
    const uint64_t at = pool::parity_offset(s_.geo, zone, c.column);
    post(SCUTE_EVENT_PARITY, SCUTE_OUTCOME_DETECTED, at, c.length);
    report_({"parity", at, c.length, 0, false});
  }
  for (const auto& [key, l] : lost_) {
    if (key.first != zone || l.reported) continue;
    // A commit may have ended, or begun again there, or be running.
    const damage_class now = classify(s_, l.g);
    if (now == damage_class::busy) saw_all_ = false;
    if (now == damage_class::sound)
      repaired(zone, l.g.what(), l.g.f.header, format::header_size + l.g.f.room, 0);
    if (now != damage_class::damaged) continue;
    ++tallies_[zone].lost;
    repair::report_lost(s_, nullptr, l.g.f);
    report_({l.g.what(), l.g.f.header, format::header_size + l.g.f.room,
             l.g.chunk == nullptr ? 0 : s_.oid_of(l.g.object()), false});
  }
  std::erase_if(lost_, [&](const auto& x) { return x.first.first == zone; });
  std::erase_if(suspects_, [&](const auto& x) { return x.first.zone == zone; });
  std::erase_if(busy_, here);
}

}  // namespace scute::core::scrub

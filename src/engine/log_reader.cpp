// SPDX-License-Identifier: BSD-3-Clause
#include "engine/log_reader.hpp"

#include <cstring>
#include <string>

#include "engine/lane_log.hpp"
#include "medium/planted.hpp"

namespace scute::engine {
namespace {

// Where entries lie: file offset of each replica's byte 0, and the end of the area.
struct area {
  uint64_t base[2];
  uint64_t end;
};

// The entry at `position` of an area, if a replica has a valid one.
std::optional<found_entry> entry_at(const pool::state& s, uint32_t lane, const area& where,
                                    uint64_t position) {
  const uint64_t end = where.end;
  if (position + sizeof(format::log_entry) > end) return std::nullopt;
  for (uint32_t r = 0; r < (SCUTE_PLANTED(log_copy_read) ? 1 : s.geo.lane_replicas); ++r) {
    const std::byte* at = s.at(where.base[r] + position);
    format::log_entry e;
    std::memcpy(&e, at, sizeof e);
    if (e.magic != format::entry_magic || e.position != position) continue;
    if (e.pool_salt != s.salt && !SCUTE_PLANTED(entry_salt)) continue;
    if (e.epoch != s.sb.epoch && !SCUTE_PLANTED(entry_epoch)) continue;
    if (e.lane != lane && !SCUTE_PLANTED(entry_lane)) continue;
    if (e.body_size > end - position - sizeof e) continue;
    if (!SCUTE_PLANTED(entry_checksum) && e.checksum != entry_checksum(at, sizeof e + e.body_size))
      continue;
    found_entry found;
    found.head = e;
    found.records.assign(at + sizeof e, at + sizeof e + e.body_size);
    for (uint32_t copy = 0; copy < s.geo.lane_replicas; ++copy)
      found.places.push_back({where.base[copy] + position, sizeof e + e.body_size});
    return found;
  }
  return std::nullopt;
}

bool is_chunk(const pool::geometry& g, uint64_t offset) noexcept {
  if (offset < g.zones_offset || !g.in_data(offset, g.chunk_size)) return false;
  const uint64_t inside = offset - g.zone_offset(pool::zone_of(g, offset));
  return inside >= g.chunk_base && (inside - g.chunk_base) % g.chunk_size == 0 &&
         (inside - g.chunk_base) / g.chunk_size < g.chunks;
}

// One link of a chain, from whichever copy is valid.
const std::byte* link_at(const pool::state& s, const format::log_entry& e, uint64_t index,
                         uint64_t offset, uint64_t replica, format::log_link& link) {
  for (const uint64_t o : {offset, SCUTE_PLANTED(link_copy_read) ? 0 : replica}) {
    if (o == 0 || !is_chunk(s.geo, o)) continue;
    const std::byte* at = s.at(o);
    std::memcpy(&link, at, sizeof link);
    if (link.pool_salt != s.salt || link.epoch != e.epoch || link.lane != e.lane ||
        link.transaction != e.transaction || link.index != index)
      continue;
    if (link.length > s.geo.chunk_size - sizeof link) continue;
    if (!SCUTE_PLANTED(link_checksum) && link.checksum != link_checksum(link, at + sizeof link))
      continue;
    return at + sizeof link;
  }
  return nullptr;
}

// Replaces a chained entry's body by the records in the chain; false if a link is invalid (L1).
bool unchain(const pool::state& s, found_entry& e) {
  format::log_chain c;
  if (e.records.size() != sizeof c) return false;
  std::memcpy(&c, e.records.data(), sizeof c);
  const uint64_t chunks = uint64_t{s.geo.chunks} * s.geo.zone_count;
  if (c.links == 0 || c.links > chunks || c.length > s.geo.file_size) return false;
  std::vector<std::byte> records;
  uint64_t offset = c.first, replica = c.first_replica;
  for (uint64_t i = 0; i < c.links; ++i) {
    format::log_link link;
    const std::byte* bytes = link_at(s, e.head, i, offset, replica, link);
    if (bytes == nullptr || records.size() + link.length > c.length) return false;
    records.insert(records.end(), bytes, bytes + link.length);
    for (const uint64_t copy : {offset, replica})
      if (copy != 0 && is_chunk(s.geo, copy)) e.places.push_back({copy, sizeof link + link.length});
    offset = link.next;
    replica = link.next_replica;
  }
  if (records.size() != c.length) return false;
  e.records = std::move(records);
  return true;
}

}  // namespace

found_log read_lane(const pool::state& s, uint32_t lane) {
  found_log log;
  uint64_t undone = 0;
  for (uint32_t r = 0; r < (SCUTE_PLANTED(status_copy_read) ? 1 : s.geo.lane_replicas); ++r) {
    format::lane_status st;
    std::memcpy(&st, s.at(s.geo.lane_offset(lane, r)), sizeof st);
    uint64_t value = 0;
    if (read_status_word(s, lane, status_word::applied, st.applied, value))
      log.applied = std::max(log.applied, value);
    if (read_status_word(s, lane, status_word::undone, st.undone, value))
      undone = std::max(undone, value);
  }
  area where{{s.geo.lane_offset(lane, 0), s.geo.lane_offset(lane, s.geo.lane_replicas - 1)},
             format::lane_undo_offset(s.geo.lane_size)};
  // Transactions up to this one need no undo (L4).
  uint64_t ended = SCUTE_PLANTED(undone_read) ? 0 : undone;
  for (uint64_t at = format::lane_log_offset; at < where.end; at += 64) {
    auto e = entry_at(s, lane, where, at);
    if (!e || (e->head.flags & format::entry_undo) != 0) continue;
    if ((e->head.flags & format::entry_chained) != 0 && e->head.sequence > log.applied &&
        !unchain(s, *e))
      continue;
    const bool final = (e->head.flags & format::entry_final) != 0 || SCUTE_PLANTED(step_ends_undo);
    if (e->head.transaction != 0 && !SCUTE_PLANTED(entry_ends_undo))
      ended = std::max(ended, final ? e->head.transaction : e->head.transaction - 1);
    if (!log.last || e->head.sequence > log.last->head.sequence || SCUTE_PLANTED(log_newest))
      log.last = std::move(e);
  }
  uint64_t at = where.end;
  where.end = s.geo.lane_size;
  uint64_t transaction = 0;
  for (uint64_t index = 0;; ++index) {
    auto e = entry_at(s, lane, where, at);
    if (!e || (e->head.flags & format::entry_undo) == 0 || e->head.transaction <= ended ||
        e->head.sequence != index)
      break;
    if (transaction != 0 && transaction != e->head.transaction) break;
    transaction = e->head.transaction;
    const auto keep_places = [&] {
      log.undo_places.insert(log.undo_places.end(), e->places.begin(), e->places.end());
    };
    at += (sizeof e->head + e->head.body_size + 63) & ~uint64_t{63};
    if ((e->head.flags & format::entry_more) != 0) {
      if (SCUTE_PLANTED(undo_more)) break;
      format::log_chain next;
      if (e->records.size() != sizeof next) break;
      std::memcpy(&next, e->records.data(), sizeof next);
      const bool two = s.geo.lane_replicas > 1;
      if (!is_chunk(s.geo, next.first) || (two && !is_chunk(s.geo, next.first_replica))) break;
      keep_places();
      where = {{next.first, two ? next.first_replica : next.first}, s.geo.chunk_size};
      at = 0;
      continue;
    }
    if ((e->head.flags & format::entry_chained) != 0 && !unchain(s, *e)) break;
    keep_places();
    log.undo.push_back(std::move(*e));
  }
  return log;
}

void for_each_record(
    const pool::state& s, const found_entry& e,
    const std::function<void(format::record_kind, uint64_t, const std::byte*, uint32_t)>& fn) {
  const auto walk = [&](bool call) {
    size_t at = 0;
    while (at < e.records.size()) {
      format::log_record r;
      if (e.records.size() - at < sizeof r) return false;
      std::memcpy(&r, e.records.data() + at, sizeof r);
      at += sizeof r;
      const auto kind = static_cast<format::record_kind>(r.kind);
      const bool with_bytes =
          kind == format::record_kind::data || kind == format::record_kind::undo;
      if (!with_bytes && kind != format::record_kind::intent) return false;
      const size_t payload = with_bytes ? (size_t{r.length} + 7) & ~size_t{7} : 0;
      if (payload > e.records.size() - at || !s.geo.in_data(r.offset, r.length)) return false;
      if (call) fn(kind, r.offset, with_bytes ? e.records.data() + at : nullptr, r.length);
      at += payload;
    }
    return true;
  };
  if (!walk(false))
    throw failure(SCUTE_E_CORRUPT, s.path + ": a log entry of lane " + std::to_string(e.head.lane) +
                                       " has a valid checksum but makes no sense; the file was "
                                       "tampered with. Restore the pool from a backup");
  walk(true);
}

}  // namespace scute::engine

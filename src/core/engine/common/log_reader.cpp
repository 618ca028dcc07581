// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/common/log_reader.hpp"

#include <cstring>
#include <string>

#include "core/engine/common/lane_log.hpp"
#include "core/log/area.hpp"

namespace scute::core::engine {
namespace {

// Where entries lie.
struct area : log::area {
  area(const pool::state& s, const uint64_t (&offsets)[2], uint64_t from, uint64_t to)
      : log::area({s.at(offsets[0]), s.at(offsets[1])}, s.geo.lane_replicas, from, to),
        offset{offsets[0], offsets[1]} {}
  uint64_t offset[2];  // of byte 0 of each replica
};

// The content of the status lines of a lane: one word of each replica, 0 where a check fails.
struct status_words {
  uint64_t said_applied[2] = {}, said_undone[2] = {};

  // `highest`: of the valid entries of the ring (LOG-5).
  uint64_t applied(uint64_t highest) const noexcept {
    const uint64_t most = highest + applied_reach;
    return best(said_applied, most);
  }
  // `transaction`: of the first undo entry (LOG-6).
  uint64_t undone(uint64_t transaction) const noexcept { return best(said_undone, transaction); }

 private:
  // Equal words in two replicas are no accident, however high they are.
  static uint64_t best(const uint64_t (&said)[2], uint64_t most) noexcept {
    uint64_t value = said[0] == said[1] ? said[0] : 0;
    for (const uint64_t x : said)
      if (x <= most) value = std::max(value, x);
    return value;
  }
};

status_words read_status(const pool::state& s, const log::identity& whose) {
  status_words all;
  for (uint32_t r = 0; r < s.geo.lane_replicas; ++r) {
    format::lane_status st;
    std::memcpy(&st, s.at(s.geo.lane_offset(whose.lane, r)), sizeof st);
    uint64_t value = 0;
    if (log::read_status_word(whose, log::status_word::applied, st.applied, value))
      all.said_applied[r] = value;
    if (log::read_status_word(whose, log::status_word::undone, st.undone, value))
      all.said_undone[r] = value;
  }
  return all;
}

// All copies of an entry.
std::vector<place> places_of(const pool::state& s, const area& where, const log::entry_view& e) {
  std::vector<place> places;
  places.reserve(s.geo.lane_replicas);
  for (uint32_t r = 0; r < s.geo.lane_replicas; ++r)
    places.push_back({where.offset[r] + e.head.position, sizeof e.head + e.head.body_size});
  return places;
}

found_entry copy(const pool::state& s, const area& where, const log::entry_view& e) {
  return {e.head, {e.body, e.body + e.head.body_size}, places_of(s, where, e)};
}

bool is_chunk(const pool::geometry& g, uint64_t offset) noexcept {
  if (offset < g.zones_offset || !g.in_data(offset, g.chunk_size)) return false;
  const uint64_t inside = offset - g.zone_offset(pool::zone_of(g, offset));
  return inside >= g.chunk_base && (inside - g.chunk_base) % g.chunk_size == 0 &&
         (inside - g.chunk_base) / g.chunk_size < g.chunks;
}

}  // namespace

log_reader::log_reader(const pool::state& s)
    : s_(s),
      chains_(
          {s.at(0), s.geo.chunk_size, s.geo.lane_replicas},
          [&g = s.geo](uint64_t offset) { return is_chunk(g, offset); }, 2 * s.geo.file_size) {}

// Replaces a chained entry's body by the records in the chain; false if a link is invalid.
bool log_reader::unchain(found_entry& e) {
  format::log_chain c;
  if (e.records.size() != sizeof c) return false;
  std::memcpy(&c, e.records.data(), sizeof c);
  const uint64_t chunks = uint64_t{s_.geo.chunks} * s_.geo.zone_count;
  std::vector<std::byte> records;
  switch (chains_.read(e.head, c, chunks, s_.geo.file_size, records, e.places)) {
    case log::chain_reader::outcome::valid: e.records = std::move(records); return true;
    case log::chain_reader::outcome::invalid: return false;
    case log::chain_reader::outcome::exhausted: break;
  }
  throw failure(SCUTE_E_CORRUPT, s_.path +
                                     ": the logs name more chains of chunks than the pool "
                                     "has room for; the file was tampered with. Restore "
                                     "the pool from a backup");
}

found_log log_reader::read_lane(uint32_t lane) {
  const pool::state& s = s_;
  const log::identity whose = identity_of(s, lane);
  found_log found;
  const status_words status = read_status(s, whose);
  const uint64_t replicas[2] = {s.geo.lane_offset(lane, 0),
                                s.geo.lane_offset(lane, s.geo.lane_replicas - 1)};
  const uint64_t ring_end = format::lane_undo_offset(s.geo.lane_size);
  area ring(s, replicas, format::lane_log_offset, ring_end);
  // Transactions up to this one need no undo (LOG-4).
  uint64_t ended = 0;
  std::vector<log::entry_view> entries;
  uint64_t highest = 0;
  ring.for_each_entry(whose, [&](const log::entry_view& e) {
    if ((e.head.flags & format::entry_undo) != 0) return;
    entries.push_back(e);
    highest = std::max(highest, e.head.sequence);
  });
  found.applied = status.applied(highest);
  std::optional<log::entry_view> newest;
  for (const log::entry_view& e : entries) {
    std::optional<found_entry> chained;
    if ((e.head.flags & format::entry_chained) != 0 && e.head.sequence > found.applied) {
      // Before it is copied (AREA-1).
      if (e.head.body_size != sizeof(format::log_chain)) continue;
      if (!unchain(chained.emplace(copy(s, ring, e)))) continue;
    }
    const bool final = (e.head.flags & format::entry_final) != 0;
    if (e.head.transaction != 0)
      ended = std::max(ended, final ? e.head.transaction : e.head.transaction - 1);
    if (newest && e.head.sequence <= newest->head.sequence) continue;
    newest = e;
    found.last = std::move(chained);  // else copied below
  }
  if (newest && !found.last) found.last = copy(s, ring, *newest);
  area where(s, replicas, ring_end, s.geo.lane_size);
  uint64_t at = ring_end;
  uint64_t transaction = 0;
  for (uint64_t index = 0;; ++index) {
    const auto e = where.at(whose, at);
    if (index == 0 && e) ended = std::max(ended, status.undone(e->head.transaction));
    if (!e || (e->head.flags & format::entry_undo) == 0 || e->head.transaction <= ended ||
        e->head.sequence != index)
      break;
    if (transaction != 0 && transaction != e->head.transaction) break;
    transaction = e->head.transaction;
    const auto keep_places = [&](const std::vector<place>& places) {
      found.undo_places.insert(found.undo_places.end(), places.begin(), places.end());
    };
    at += log::round_line(sizeof e->head + e->head.body_size);
    if ((e->head.flags & format::entry_more) != 0) {
      format::log_chain next;
      if (e->head.body_size != sizeof next) break;
      std::memcpy(&next, e->body, sizeof next);
      const bool two = s.geo.lane_replicas > 1;
      if (!is_chunk(s.geo, next.first) || (two && !is_chunk(s.geo, next.first_replica))) break;
      keep_places(places_of(s, where, *e));
      where = area(s, {next.first, two ? next.first_replica : next.first}, 0, s.geo.chunk_size);
      at = 0;
      continue;
    }
    found_entry entry = copy(s, where, *e);
    if ((entry.head.flags & format::entry_chained) != 0 && !unchain(entry)) break;
    keep_places(entry.places);
    found.undo.push_back(std::move(entry));
  }
  return found;
}

void for_each_record(const pool::state& s, const found_entry& e, const log::record_fn& fn) {
  const auto in_data = [&](uint64_t offset, uint64_t n) { return s.geo.in_data(offset, n); };
  if (log::for_each_record(e.records, in_data, fn)) return;
  throw failure(SCUTE_E_CORRUPT, s.path + ": a log entry of lane " + std::to_string(e.head.lane) +
                                     " has a valid checksum but is inconsistent; the file was "
                                     "tampered with. Restore the pool from a backup");
}

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
#include "engine/common/log_reader.hpp"

#include <cstring>
#include <string>

#include "base/planted.hpp"
#include "codec/crc32c.hpp"
#include "engine/common/lane_log.hpp"

namespace scute::engine {
namespace {

// The checksums of ranges of one replica (LOGREAD-1).
class range_sums {
 public:
  // Of [begin, end), both of them multiples of 64 from `base`.
  range_sums(const std::byte* base, uint64_t begin, uint64_t end)
      : base_(base), begin_(begin), end_(end) {}

  // from: anywhere behind begin.
  uint32_t of(uint64_t from, uint64_t n) {
    constexpr uint64_t turns = 4;  // entries that a ring has overwritten in part are summed in vain
    if (prefixes_.empty()) {
      if (n <= turns * (end_ - begin_) - summed_) {
        summed_ += n;
        return codec::crc32c(0, base_ + from, n);
      }
      build();
    }
    // sum(A and then B) = sum(A) shifted by B's length ^ sum(B)
    return codec::crc32c_shift(prefix(from), n) ^ prefix(from + n);
  }

 private:
  void build() {
    prefixes_.reserve((end_ - begin_) / 64 + 1);
    uint32_t sum = 0;
    for (uint64_t at = begin_; at < end_; at += 64) {
      prefixes_.push_back(sum);
      sum = codec::crc32c(sum, base_ + at, 64);
    }
    prefixes_.push_back(sum);
  }
  uint32_t prefix(uint64_t to) const noexcept {
    const uint64_t line = (to - begin_) / 64;
    return codec::crc32c(prefixes_[line], base_ + begin_ + line * 64, (to - begin_) % 64);
  }

  const std::byte* base_;
  uint64_t begin_, end_;
  uint64_t summed_ = 0;
  std::vector<uint32_t> prefixes_;  // of [begin, begin + 64 i)
};

// Where entries lie.
struct area {
  area(const pool::state& s, const uint64_t (&offsets)[2], uint64_t from, uint64_t to)
      : offset{offsets[0], offsets[1]},
        base{s.at(offsets[0]), s.at(offsets[1])},
        end(to),
        sums{{base[0], from, to}, {base[1], from, to}} {}
  uint64_t offset[2];        // of byte 0 of each replica
  const std::byte* base[2];  // the same in memory
  uint64_t end;
  range_sums sums[2];
};

// A valid entry where it lies.
struct sighting {
  format::log_entry head;
  const std::byte* body;
};

// All copies of an entry.
std::vector<place> places_of(const pool::state& s, const area& where, const sighting& e) {
  std::vector<place> places;
  for (uint32_t r = 0; r < s.geo.lane_replicas; ++r)
    places.push_back({where.offset[r] + e.head.position, sizeof e.head + e.head.body_size});
  return places;
}

found_entry copy(const pool::state& s, const area& where, const sighting& e) {
  return {e.head, {e.body, e.body + e.head.body_size}, places_of(s, where, e)};
}

// The entry at `position` of an area, if a replica has a valid one.
std::optional<sighting> entry_at(const pool::state& s, uint32_t lane, area& where,
                                 uint64_t position) {
  const uint64_t end = where.end;
  if (position + sizeof(format::log_entry) > end) return std::nullopt;
  for (uint32_t r = 0; r < (SCUTE_PLANTED(log_copy_read) ? 1 : s.geo.lane_replicas); ++r) {
    const std::byte* at = where.base[r] + position;
    format::log_entry e;
    std::memcpy(&e, at, sizeof e);
    if (e.magic != format::entry_magic || e.position != position) continue;
    if (e.pool_salt != s.salt && !SCUTE_PLANTED(entry_salt)) continue;
    if (e.epoch != s.sb.epoch && !SCUTE_PLANTED(entry_epoch)) continue;
    if (e.lane != lane && !SCUTE_PLANTED(entry_lane)) continue;
    if (e.body_size > end - position - sizeof e) continue;
    constexpr uint64_t before = offsetof(format::log_entry, checksum) + sizeof e.checksum;
    if (!SCUTE_PLANTED(entry_checksum) &&
        e.checksum != where.sums[r].of(position + before, sizeof e + e.body_size - before))
      continue;
    return sighting{e, at + sizeof e};
  }
  return std::nullopt;
}

bool is_chunk(const pool::geometry& g, uint64_t offset) noexcept {
  if (offset < g.zones_offset || !g.in_data(offset, g.chunk_size)) return false;
  const uint64_t inside = offset - g.zone_offset(pool::zone_of(g, offset));
  return inside >= g.chunk_base && (inside - g.chunk_base) % g.chunk_size == 0 &&
         (inside - g.chunk_base) / g.chunk_size < g.chunks;
}

}  // namespace

// One link of a chain, from whichever copy is valid.
const std::byte* log_reader::link_at(const format::log_entry& e, uint64_t index, uint64_t offset,
                                     uint64_t replica, format::log_link& link) {
  const pool::state& s = s_;
  for (const uint64_t o : {offset, SCUTE_PLANTED(link_copy_read) ? 0 : replica}) {
    if (o == 0 || !is_chunk(s.geo, o)) continue;
    const std::byte* at = s.at(o);
    std::memcpy(&link, at, sizeof link);
    if (link.pool_salt != s.salt || link.epoch != e.epoch || link.lane != e.lane ||
        link.transaction != e.transaction || link.index != index)
      continue;
    if (link.length > s.geo.chunk_size - sizeof link) continue;
    if (sizeof link + link.length > chain_bytes_left_)
      throw failure(SCUTE_E_CORRUPT, s.path +
                                         ": the logs name more chains of chunks than the pool "
                                         "has room for; the file was tampered with. Restore "
                                         "the pool from a backup");
    chain_bytes_left_ -= sizeof link + link.length;
    if (!SCUTE_PLANTED(link_checksum) && link.checksum != link_checksum(link, at + sizeof link))
      continue;
    return at + sizeof link;
  }
  return nullptr;
}

// Replaces a chained entry's body by the records in the chain; false if a link is invalid (LOG-1).
bool log_reader::unchain(found_entry& e) {
  const pool::state& s = s_;
  format::log_chain c;
  if (e.records.size() != sizeof c) return false;
  std::memcpy(&c, e.records.data(), sizeof c);
  const uint64_t chunks = uint64_t{s.geo.chunks} * s.geo.zone_count;
  if (c.links == 0 || c.links > chunks || c.length > s.geo.file_size) return false;
  std::vector<std::byte> records;
  uint64_t offset = c.first, replica = c.first_replica;
  for (uint64_t i = 0; i < c.links; ++i) {
    format::log_link link;
    const std::byte* bytes = link_at(e.head, i, offset, replica, link);
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

found_log log_reader::read_lane(uint32_t lane) {
  const pool::state& s = s_;
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
  const uint64_t replicas[2] = {s.geo.lane_offset(lane, 0),
                                s.geo.lane_offset(lane, s.geo.lane_replicas - 1)};
  const uint64_t ring_end = format::lane_undo_offset(s.geo.lane_size);
  area ring(s, replicas, format::lane_log_offset, ring_end);
  // Transactions up to this one need no undo (LOG-4).
  uint64_t ended = SCUTE_PLANTED(undone_read) ? 0 : undone;
  std::optional<sighting> newest;
  for (uint64_t at = format::lane_log_offset; at < ring_end; at += 64) {
    const auto e = entry_at(s, lane, ring, at);
    if (!e || (e->head.flags & format::entry_undo) != 0) continue;
    std::optional<found_entry> chained;
    if ((e->head.flags & format::entry_chained) != 0 && e->head.sequence > log.applied) {
      // Before it is copied (LOGREAD-1).
      if (e->head.body_size != sizeof(format::log_chain)) continue;
      if (!unchain(chained.emplace(copy(s, ring, *e)))) continue;
    }
    const bool final = (e->head.flags & format::entry_final) != 0 || SCUTE_PLANTED(step_ends_undo);
    if (e->head.transaction != 0 && !SCUTE_PLANTED(entry_ends_undo))
      ended = std::max(ended, final ? e->head.transaction : e->head.transaction - 1);
    if (newest && e->head.sequence <= newest->head.sequence && !SCUTE_PLANTED(log_newest)) continue;
    newest = e;
    log.last = std::move(chained);  // else copied below
  }
  if (newest && !log.last) log.last = copy(s, ring, *newest);
  area where(s, replicas, ring_end, s.geo.lane_size);
  uint64_t at = ring_end;
  uint64_t transaction = 0;
  for (uint64_t index = 0;; ++index) {
    const auto e = entry_at(s, lane, where, at);
    if (!e || (e->head.flags & format::entry_undo) == 0 || e->head.transaction <= ended ||
        e->head.sequence != index)
      break;
    if (transaction != 0 && transaction != e->head.transaction) break;
    transaction = e->head.transaction;
    const auto keep_places = [&](const std::vector<place>& places) {
      log.undo_places.insert(log.undo_places.end(), places.begin(), places.end());
    };
    at += (sizeof e->head + e->head.body_size + 63) & ~uint64_t{63};
    if ((e->head.flags & format::entry_more) != 0) {
      if (SCUTE_PLANTED(undo_more)) break;
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
    log.undo.push_back(std::move(entry));
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

// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/common/recovery.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/common/log_reader.hpp"
#include "core/engine/common/touched_columns.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/pool/zone_usage.hpp"

namespace scute::core::engine {
namespace {

// RECOVER-1: makes the entries that will be replayed durable. Makes no fence if there are none.
void make_durable(pool::state& s, medium::writer& w, const std::vector<found_log>& logs) {
  bool any = false;
  const auto flush = [&](const std::vector<place>& places) {
    for (const place& p : places) w.flush(s.at(p.offset), p.length, medium::purpose::log);
    any = any || !places.empty();
  };
  for (const found_log& log : logs) {
    if (log.last) flush(log.last->places);
    flush(log.undo_places);
  }
  if (!any) return;
  w.fence(fence_site::replay);
  s.require_healthy();
}

bool is_lent(const pool::state& s, uint64_t at, const format::chunk_header& h) noexcept {
  return h.kind == static_cast<uint8_t>(format::chunk_kind::log) &&
         pool::valid(s, pool::metadata_fragment(at, format::type_chunk), h.header,
                     reinterpret_cast<const std::byte*>(&h) + format::header_size);
}

// How a chunk was recognized as lent.
enum class by : uint8_t { header, column, before_replay };

// Returns true if a read of these bytes would cause a lost page to be rebuilt.
bool is_lost(const pool::state& s, uint64_t offset) noexcept {
  return s.medium->is_revoked(offset / format::page * format::page);
}

// Decodes the chunk header from its column, without reading lost pages (RECOVER-5). Returns false
// if the column cannot decode it.
bool decode_header(pool::state& s, uint64_t at, format::chunk_header& h) {
  const pool::cell c = pool::cell_of(s.geo, at);
  pool::decoding how;
  std::vector<pool::data_range> lost;
  for (uint64_t row = 0; row < s.geo.rows; ++row)
    if (const uint64_t cell = s.geo.zone_offset(c.zone) + row * s.geo.row_size + c.column;
        cell != at && is_lost(s, cell))
      lost.push_back({cell, sizeof h});
  for (uint32_t p = 0; p < s.geo.parity; ++p)
    if (is_lost(s, pool::parity_offset(s.geo, c.zone, c.column, p)))
      how.trusted &= ~(pool::parity_set{1} << p);
  how.unknown = lost;
  return pool::decode(s, at, reinterpret_cast<std::byte*>(&h), sizeof h, how);
}

// Calls fn(file offset, header, how) for each chunk of a zone that is lent to a log; fn overlays
// it. Damaged headers come last, since their decoding needs the chunks with sound headers to be
// overlaid. `before`: chunks with a damaged header that count as lent even if their column does not
// decode to the header of a lent chunk any more.
template <typename Fn>
void overlay_lent_of(pool::state& s, uint64_t zone, const pool::zone_usage& x,
                     std::span<const uint64_t> before, Fn&& fn) {
  if (x.log_chunks == 0) return;
  std::vector<uint32_t> damaged;
  for (uint32_t i = 0; i < x.high_water; ++i) {
    const uint64_t at = s.geo.chunk_header_offset(zone, i);
    format::chunk_header h;
    if (is_lost(s, at)) {
      if (s.has_parity) damaged.push_back(i);
      continue;
    }
    std::memcpy(&h, s.at(at), sizeof h);
    if (is_lent(s, at, h))
      fn(s.geo.chunk_offset(zone, i), h, by::header);
    else if (s.has_parity && !pool::valid(s, pool::metadata_fragment(at, format::type_chunk)))
      damaged.push_back(i);
  }
  for (const uint32_t i : damaged) {
    const uint64_t at = s.geo.chunk_header_offset(zone, i), chunk = s.geo.chunk_offset(zone, i);
    format::chunk_header h;
    if (decode_header(s, at, h) && is_lent(s, at, h))
      fn(chunk, h, by::column);
    else if (std::ranges::find(before, chunk) != before.end())
      fn(chunk, h, by::before_replay);
  }
}

}  // namespace

lent_before_replay::lent_before_replay(pool::state& s) : s_(s) {
  const auto add = [&](uint64_t chunk, const format::chunk_header& h, by how) {
    if (how != by::header) damaged_.push_back(chunk);
    if (h.formatted != format::log_chunk_zeroed || s.overlaid.touches(chunk, 1)) return;
    chunks_.push_back(chunk);
    s.overlaid.add(chunk, s.geo.chunk_size, nullptr);
  };
  for (uint64_t z = 0; z < s.geo.zone_count; ++z)
    overlay_lent_of(s, z,
                    is_lost(s, s.geo.zone_offset(z)) ? pool::zone_usage{s.geo.chunks, 1}
                                                     : pool::read_usage(s, z),
                    {}, add);
}
lent_before_replay::~lent_before_replay() {
  for (const uint64_t chunk : chunks_) s_.overlaid.remove(chunk);
}

void overlay_lent(pool::state& s, std::optional<lent_before_replay>& before,
                  touched_columns* unzeroed) {
  const std::vector<uint64_t> damaged = before->damaged();
  before.reset();
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    const pool::zone_usage x = pool::read_usage(s, z);
    pool::set_used_end(s, z, x.high_water);
    overlay_lent_of(s, z, x, damaged, [&](uint64_t chunk, const format::chunk_header& h, by how) {
      // The chunks of a log that outlives sessions are overlaid already (tx::engine::find_log()). A
      // second overlay would remain when the chunk is freed, and its later objects would be read as
      // zeros.
      if (!s.overlaid.touches(chunk, 1)) s.overlaid.add(chunk, s.geo.chunk_size, nullptr);
      if (unzeroed != nullptr && how != by::before_replay &&
          h.formatted != format::log_chunk_zeroed)
        unzeroed->add(chunk, s.geo.chunk_size);
    });
  }
}

tx::recovery_report recover_from_logs(pool::state& s, medium::writer& w, open_parity parity,
                                      tx::recovery_watch* watch) {
  tx::recovery_report report;
  const bool recomputes = parity == open_parity::unknown;
  touched_columns touched(s.geo);
  std::vector<found_log> logs;
  log_reader reader(s);
  for (uint32_t i = 0; i < s.geo.lane_count; ++i) {
    logs.push_back(reader.read_lane(i));
    auto& log = logs.back();
    if (log.last && log.last->head.sequence <= log.applied) log.last.reset();
    // Every record is tested, and has its place, before the first one is written.
    const auto test = [&](format::record_kind, uint64_t offset, const std::byte*, uint32_t n) {
      pool::fill_holes(s, offset, n);
    };
    if (log.last) for_each_record(s, *log.last, test);
    for (const auto& u : log.undo) for_each_record(s, u, test);
  }
  make_durable(s, w, logs);
  std::optional<lent_before_replay> lent(s);
  if (watch != nullptr) watch->replay_begins();
  // REDO-6: of two entries that write the same bytes the one with the higher sequence is the later
  // one.
  std::stable_sort(logs.begin(), logs.end(), [](const found_log& a, const found_log& b) {
    return (a.last ? a.last->head.sequence : 0) < (b.last ? b.last->head.sequence : 0);
  });
  for (const auto& log : logs) {
    if (!log.last) continue;
    for_each_record(s, *log.last,
                    [&](format::record_kind, uint64_t offset, const std::byte* bytes, uint32_t n) {
                      if (bytes != nullptr)
                        w.stream(s.at(offset), bytes, n, medium::purpose::data);
                      else
                        w.flush(s.at(offset), n, medium::purpose::data);  // RECOVER-2
                      touched.add(offset, n);
                    });
    ++report.completed;
  }
  for (const auto& log : logs) {
    for (auto u = log.undo.rbegin(); u != log.undo.rend(); ++u)
      for_each_record(
          s, *u, [&](format::record_kind, uint64_t offset, const std::byte* bytes, uint32_t n) {
            if (bytes != nullptr) w.stream(s.at(offset), bytes, n, medium::purpose::data);
            if (recomputes) touched.add(offset, n);
          });
    if (!log.undo.empty()) ++report.undone;
  }
  overlay_lent(s, lent, recomputes ? &touched : nullptr);
  if (watch != nullptr) watch->parity_begins(touched.ranges());
  touched.for_each([&](uint64_t offset, uint64_t n) { pool::recompute(s, w, offset, n); });
  w.fence(fence_site::recovery);
  s.require_healthy();
  return report;
}

}  // namespace scute::core::engine

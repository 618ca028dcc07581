// SPDX-License-Identifier: BSD-3-Clause
#include "heal/check.hpp"

#include <cstring>
#include <set>

#include "medium/planted.hpp"
#include "pool/columns.hpp"
#include "pool/superblock.hpp"

namespace scute::heal {
namespace {

class checker {
 public:
  checker(pool::state& s, heap::heap& h, const check_options& o, scute_report& r)
      : s_(s), heap_(h), o_(o), r_(r) {
    for (uint64_t z = 0; z < s.geo.zone_count; ++z)
      total_ += s.used_end[z].load() + (s.has_parity ? s.geo.row_size : 0);
  }

  void run() {
    superblocks();
    for (uint64_t z = 0; z < s_.geo.zone_count; ++z) {
      if (SCUTE_PLANTED(check_order) && s_.has_parity) columns(z);
      if (!zone(z)) continue;
      if (s_.has_parity) columns(z);
    }
    tell("check", total_, total_);
  }

 private:
  void found(const char* what, uint64_t offset, uint64_t length, uint64_t oid, bool repaired,
             bool lost) {
    ++r_.damaged;
    if (repaired) ++r_.repaired;
    if (lost) ++r_.lost;
    if (o_.finding != nullptr) o_.finding(o_.arg, what, offset, length, oid, repaired ? 1 : 0);
  }

  void tell(const char* what, uint64_t done, uint64_t total) {
    if (o_.progress != nullptr) o_.progress(o_.arg, what, done, total);
  }
  void advance(uint64_t bytes) {
    done_ += bytes;
    if (done_ - told_ < (uint64_t{4} << 20)) return;
    told_ = done_;
    tell("check", std::min(done_, total_), total_);
  }

  void superblocks() {
    bool bad = false;
    for (unsigned i = 0; i < 3; ++i) {
      format::superblock copy;
      const uint64_t at = s_.geo.superblock_offset(i);
      std::memcpy(&copy, s_.at(at), sizeof copy);
      if (std::memcmp(&copy, &s_.sb, sizeof copy) == 0) continue;
      bad = true;
      found("superblock copy", at, sizeof copy, 0, o_.repair, false);
    }
    if (bad && o_.repair) {
      const std::lock_guard hold(s_.service_mutex);
      pool::write_superblock(*s_.service, s_.sb);
    }
  }

  // Tests one fragment; with repair, mends it. True if it is valid afterwards.
  bool fragment(const pool::fragment& f, const char* what, uint64_t oid, bool* mended = nullptr) {
    if (pool::valid(s_, f)) return true;
    if (!o_.repair) {
      found(what, f.header, format::header_size + f.room, oid, false, !decodable(f));
      suspect(f);  // its columns are off because of it, not because of their parity
      return false;
    }
    try {
      s_.healer->repair(nullptr, f, what);
      found(what, f.header, format::header_size + f.room, oid, true, false);
      if (mended != nullptr) *mended = true;
      return true;
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_CORRUPT) throw;
      found(what, f.header, format::header_size + f.room, oid, false, true);
      suspect(f);
      return false;
    }
  }

  // Without repair: would the columns give the fragment back? Only the simplest case is tried, so
  // "lost" may turn out to be less than lost.
  bool decodable(const pool::fragment& f) {
    if (!s_.has_parity) return false;
    format::fragment_header h;
    std::vector<std::byte> payload(f.room);
    pool::decode(s_, f.header, reinterpret_cast<std::byte*>(&h), sizeof h);
    pool::decode(s_, f.payload, payload.data(), f.room);
    return pool::valid(s_, f, h, payload.data());
  }

  // K1: the columns of lost fragments keep their syndrome; recomputing would bury the evidence.
  void suspect(const pool::fragment& f) {
    if (SCUTE_PLANTED(check_suspects)) return;
    for (uint64_t at = f.header; at < f.payload + f.room; at += 4096) note_suspect(at);
    note_suspect(f.payload + f.room - 1);
  }
  void note_suspect(uint64_t offset) {
    const pool::cell c = pool::cell_of(s_.geo, offset);
    suspect_blocks_.insert({c.zone, c.column / pool::column_block});
  }

  bool zone(uint64_t z) {
    const uint64_t at = s_.geo.zone_offset(z);
    if (!fragment(pool::metadata_fragment(at, format::type_zone), "zone descriptor", 0)) {
      return false;
    }
    if (z == 0)
      fragment(pool::metadata_fragment(at + format::zone_anchor_offset, format::type_anchor),
               "root anchor", 0);
    format::zone_descriptor d;
    std::memcpy(&d, s_.at(at), sizeof d);
    for (uint32_t i = 0; i < std::min(d.high_water, s_.geo.chunks); ++i) {
      ++r_.chunks;
      fragment(pool::metadata_fragment(s_.geo.chunk_header_offset(z, i), format::type_chunk),
               "chunk header", 0);
    }
    advance(s_.geo.chunk_base);
    heap::zone& zn = heap_.zones().get(z);
    const uint32_t high = zn.high_water.load();
    for (uint32_t i = 0; i < high; ++i) {
      heap::chunk_state& c = zn.chunks[i];
      const heap::use use = c.kind.load();
      if (use == heap::use::run) {
        for (uint32_t k = 0; k < c.formatted.load(); ++k) object(heap_.zones().slot_object(c, k));
      } else if (use == heap::use::span) {
        object(heap_.zones().span_object(c));
      }
      advance(s_.geo.chunk_size);
    }
    return true;
  }

  void object(const heap::object& o) {
    const uint64_t oid = s_.oid_of(o.payload);
    if (!fragment(o.fragment(0), "object", oid)) return;
    format::fragment_header h;
    std::memcpy(&h, s_.at(o.header), sizeof h);
    if (format::meta_state(h.meta) != format::state::live) return;
    const uint64_t size = format::meta_size(h.meta);
    ++r_.objects;
    r_.object_bytes += size;
    for (uint64_t i = 1; i * format::fragment_payload < size; ++i)
      fragment(o.fragment(i), "object fragment", oid);
  }

  void columns(uint64_t z) {
    for (uint64_t column = 0; column < s_.geo.row_size; column += pool::column_block) {
      // Columns beyond what any row uses hold zeros in every row, and in the parity.
      r_.columns_bytes += pool::column_block;
      if (!pool::column_consistent(s_, z, column, pool::column_block)) {
        const bool suspected = suspect_blocks_.count({z, column / pool::column_block}) != 0;
        const uint64_t at = s_.geo.zone_offset(z) + s_.geo.data_size + column;
        if (!s_.has_checksums && !SCUTE_PLANTED(check_blind)) {
          // Nothing says whether the data or the parity is wrong. Recomputing would make damaged
          // data look sound, so it is only reported.
          found("column (its data or its parity; nothing can tell which without checksums)", at,
                pool::column_block, 0, false, true);
        } else if (o_.repair && !suspected) {
          {
            const std::lock_guard hold(s_.service_mutex);
            pool::repair_parity(s_, *s_.service, z, column, pool::column_block);
            s_.service->fence();
          }
          s_.repaired.fetch_add(1, std::memory_order_relaxed);
          found("parity", at, pool::column_block, 0, true, false);
        } else if (!suspected) {
          found("parity", at, pool::column_block, 0, false, false);
        }
      }
      advance(pool::column_block);
    }
  }

  pool::state& s_;
  heap::heap& heap_;
  const check_options& o_;
  scute_report& r_;
  uint64_t done_ = 0, told_ = 0, total_ = 0;
  std::set<std::pair<uint64_t, uint64_t>> suspect_blocks_;
};

}  // namespace

void check(pool::state& s, heap::heap& h, const check_options& options, scute_report& report) {
  checker(s, h, options, report).run();
}

}  // namespace scute::heal

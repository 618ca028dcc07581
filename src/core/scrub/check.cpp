// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/check.hpp"

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/repair/page_layout.hpp"
#include "core/repair/repair.hpp"
#include "core/scrub/replicas.hpp"
#include "core/scrub/suspect_repair.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core::scrub {
namespace {

constexpr int looks_max = 8;

class checker {
 public:
  checker(pool::state& s, heap::heap& h, const check_options& o, scute_report& r)
      : s_(s), heap_(h), o_(o), r_(r) {
    for (uint64_t z = 0; z < s.geo.zone_count; ++z)
      total_ += s.used_end[z].load() + s.geo.parity * s.geo.row_size;
  }

  void run() {
    const pool::finder_scope as(SCUTE_FINDER_CHECK);
    superblocks();
    log();
    for (uint64_t z = 0; z < s_.geo.zone_count; ++z) {
      const bool usable = zone(z);
      retry_lost();
      if (usable && s_.has_parity) columns(z);
    }
    r_.complete = 1;
    report("check", total_, total_);
  }

 private:
  void found(const char* what, uint64_t offset, uint64_t length, uint64_t oid,
             scute_outcome outcome) {
    ++r_.damaged;
    if (outcome == SCUTE_OUTCOME_REPAIRED) ++r_.repaired;
    if (outcome == SCUTE_OUTCOME_LOST) ++r_.lost;
    if (o_.finding != nullptr)
      o_.finding(o_.arg, what, offset, length, oid, outcome == SCUTE_OUTCOME_REPAIRED ? 1 : 0);
  }

  // Posts an event that the repairer does not post itself.
  void post(scute_event_kind kind, scute_outcome outcome, uint64_t offset, uint64_t length) {
    s_.events.post({kind, outcome, scute_finder{}, offset, length});
  }

  void report(const char* what, uint64_t done, uint64_t total) {
    if (o_.progress != nullptr) o_.progress(o_.arg, what, done, total);
  }
  void advance(uint64_t bytes) {
    done_ += bytes;
    if (done_ - reported_ < (uint64_t{4} << 20)) return;
    reported_ = done_;
    report("check", std::min(done_, total_), total_);
  }

  void superblocks() {
    bool bad = false;
    for (unsigned i = 0; i < 3; ++i) {
      format::superblock copy;
      const uint64_t at = s_.geo.superblock_offset(i);
      std::memcpy(&copy, s_.at(at), sizeof copy);
      if (std::memcmp(&copy, &s_.sb, sizeof copy) == 0) continue;
      bad = true;
      const auto outcome = o_.repair ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_DETECTED;
      found("superblock copy", at, sizeof copy, 0, outcome);
      post(SCUTE_EVENT_SUPERBLOCK, outcome, at, sizeof copy);
    }
    if (bad && o_.repair) {
      const locked hold(s_.service_mutex);
      pool::write_superblock(*s_.service, s_.sb);
    }
  }

  void log() {
    if (o_.engine == nullptr) return;
    repair_tally t;
    repair_log(s_, *o_.engine, o_.repair, t, [&](const finding& f) {
      found(f.what, f.offset, f.length, 0,
            f.repaired ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_DETECTED);
    });
  }

  // Tests one fragment; with repair, repairs it. True if it is valid afterwards.
  bool fragment(const pool::fragment& f, const char* what, uint64_t oid,
                const heap::object* whole = nullptr) {
    if (pool::valid(s_, f)) return true;
    if (const auto reported = reported_for_.find(f.header);
        reported != reported_for_.end() && reported->second == repairs_)
      return false;
    if (!o_.repair) {
      reported_for_[f.header] = repairs_;
      format::fragment_header h;
      const bool known = decodable(s_, f, hints_, h);
      found(what, f.header, format::header_size + f.room, oid,
            known ? SCUTE_OUTCOME_DETECTED : SCUTE_OUTCOME_LOST);
      s_.events.post(repair::event_of(s_, f, SCUTE_OUTCOME_DETECTED));
      suspect(f);  // its columns are off because of it, not because of their parity
      if (known && whole != nullptr) rest(*whole, h);
      return false;
    }
    try {
      repair::repair_fragment(s_, nullptr, f, what, repair::on_loss::leave);
      found(what, f.header, format::header_size + f.room, oid, SCUTE_OUTCOME_REPAIRED);
      ++repairs_;
      return true;
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_CORRUPT) throw;
      lost_.push_back(
          {f, what, oid, repairs_, whole != nullptr ? std::optional(*whole) : std::nullopt});
      return false;
    }
  }

  // A lost fragment may become repairable when other fragments of its columns are repaired
  // (SUSPECT-2 of core/scrub/suspect_repair.hpp).
  void retry_lost() {
    for (bool tried = true; tried;) {
      tried = false;
      std::vector<loss> again;
      std::swap(again, lost_);
      for (const loss& l : again) {
        if (l.tried == repairs_) {
          lost_.push_back(l);
          continue;
        }
        tried = true;
        if (pool::valid(s_, l.f))  // repaired along with another one
          found(l.what, l.f.header, format::header_size + l.f.room, l.oid, SCUTE_OUTCOME_REPAIRED);
        else if (!fragment(l.f, l.what, l.oid, l.whole ? &*l.whole : nullptr))
          continue;
        if (l.whole) rest(*l.whole, header_of(*l.whole));
      }
    }
    for (const loss& l : lost_) {
      const bool first = reported_for_.insert_or_assign(l.f.header, repairs_).second;
      if (first) {
        repair::report_lost(s_, nullptr, l.f);
        found(l.what, l.f.header, format::header_size + l.f.room, l.oid, SCUTE_OUTCOME_LOST);
      }
      suspect(l.f);
      // No header says any more which other fragments there are.
      if (l.whole) suspect(l.whole->header, l.whole->payload + l.whole->room);
    }
    lost_.clear();
  }

  // CHECK-1: the columns of lost fragments keep their syndrome; recomputing would destroy the
  // evidence.
  void suspect(const pool::fragment& f) {
    suspect(f.header, f.header + format::header_size);
    suspect(f.payload, f.payload + f.room);
  }
  void suspect(uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at += pool::column_block) note_suspect(at);
    note_suspect(end - 1);
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
      heap::chunk_record& c = zn.chunks[i];
      const heap::use use = c.kind.load();
      s_.medium->will_read(s_.geo.chunk_offset(z, i), s_.geo.chunk_size);
      if (use == heap::use::run) {
        for (uint32_t k = 0; k < c.formatted.load(); ++k) object(heap_.zones().slot_object(c, k));
      } else if (use == heap::use::span) {
        object(heap_.zones().span_object(c));
      } else if (use == heap::use::free) {
        free_headers(s_.geo.chunk_offset(z, i), s_.geo.chunk_offset(z, i + 1));
      } else if (use == heap::use::lost) {
        suspect(s_.geo.chunk_offset(z, i), s_.geo.chunk_offset(z, i + 1));
      }
      advance(s_.geo.chunk_size);
    }
    return true;
  }

  // A chunk that is free in memory may be a run of free slots, or a freed span, in the file. The
  // next opening reads these headers.
  void free_headers(uint64_t from, uint64_t to) {
    std::vector<pool::fragment> found;
    for (uint64_t page = from; page < to; page += format::page)
      repair::for_each_fragment(s_, page, [&](const repair::fragment_in_page& f) {
        if (f.fragment.header >= page && f.fragment.header < page + format::page)
          found.push_back(f.fragment);
      });
    for (const pool::fragment& f : found) fragment(f, "object", 0);
  }

  void object(const heap::object& o) {
    const uint64_t oid = s_.oid_of(o.payload);
    if (fragment(o.fragment(0), "object", oid, &o)) rest(o, header_of(o));
  }

  format::fragment_header header_of(const heap::object& o) const noexcept {
    format::fragment_header h;
    std::memcpy(&h, s_.at(o.header), sizeof h);
    return h;
  }

  // Checks the rest of an object whose first header is known, even if only from its columns.
  void rest(const heap::object& o, const format::fragment_header& h) {
    const uint64_t oid = s_.oid_of(o.payload);
    if (format::meta_role(h.meta) != format::role::live) return;
    const uint64_t size = format::meta_size(h.meta);
    ++r_.objects;
    r_.object_bytes += size;
    for (uint64_t i = 1; i * format::fragment_payload < size; ++i)
      fragment(o.fragment(i), "object fragment", oid);
  }

  // CHECK-2. Examines, and repairs, everything with bytes in the columns again. Returns true if all
  // of it was sound.
  bool sound_still(uint64_t z, uint64_t column) {
    std::vector<fragment_ref> odd;
    bool known = true;
    const uint64_t end = s_.used_end[z].load();
    for (uint64_t inside = column; inside < end && inside / s_.geo.row_size < s_.geo.rows;
         inside += s_.geo.row_size)
      known = for_each_fragment_ref(s_, heap_.zones().get(z), z, inside, that::touches,
                                    [&](const fragment_ref& x) {
                                      if (!looks_sound(s_, x)) odd.push_back(x);
                                    }) &&
              known;
    const auto oid = [this](const fragment_ref& x) {
      return x.chunk == nullptr ? 0 : s_.oid_of(x.object());
    };
    for (const fragment_ref& x : odd) {
      fragment_ref head = x;
      head.f = x.head();
      if (!looks_sound(s_, head)) fragment(head.f, head.what(), oid(head));
      if (looks_sound(s_, head) && !looks_sound(s_, x)) fragment(x.f, x.what(), oid(x));
    }
    retry_lost();
    for (fragment_ref& x : odd) {
      const pool::fragment f = std::exchange(x.f, x.head());
      if (!looks_sound(s_, x)) suspect(f);  // unclear whether it is damaged itself
    }
    return known && odd.empty();
  }

  void columns(uint64_t z) {
    for (uint64_t column = 0; column < s_.geo.row_size; column += pool::column_block) {
      // Columns that no row uses hold zeros in every row, and in the parity.
      r_.columns_bytes += s_.geo.parity * pool::column_block;
      if (!pool::unused_and_zero(s_, z, column, pool::column_block)) parity(z, column);
      advance(s_.geo.parity * pool::column_block);
    }
  }

  bool compute_anew(uint64_t z, uint64_t column, const std::byte* syndrome) {
    const locked hold(s_.service_mutex);
    if (!pool::repair_parity(s_, *s_.service, z, column, pool::column_block, syndrome))
      return false;
    s_.service->fence(fence_site::check_parity);
    s_.require_healthy();
    s_.repaired.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void parity(uint64_t z, uint64_t column) {
    for (int round = 0;; ++round) {
      alignas(64) std::byte syndrome[pool::syndrome_max];
      pool::column_syndrome(s_, z, column, pool::column_block, syndrome);
      const uint32_t wrong = pool::wrong_parity(s_, syndrome, pool::column_block);
      if (wrong == s_.geo.parity) return;
      const uint64_t at = pool::parity_offset(s_.geo, z, column, wrong);
      if (!s_.has_checksums) {
        // Nothing says whether the data or the parity is wrong. Recomputing would make damaged
        // data look sound, so it is only reported.
        found(undecidable_column, at, pool::column_block, 0, SCUTE_OUTCOME_LOST);
        return post(SCUTE_EVENT_PARITY, o_.repair ? SCUTE_OUTCOME_LOST : SCUTE_OUTCOME_DETECTED, at,
                    pool::column_block);
      }
      const auto suspected = [&] {
        return suspect_blocks_.count({z, column / pool::column_block}) != 0;
      };
      if (suspected()) return;
      if (s_.has_checksums && !sound_still(z, column)) {
        if (suspected()) return;
        if (round < looks_max) continue;
      } else if (o_.repair) {
        if (compute_anew(z, column, syndrome)) {
          found("parity", at, pool::column_block, 0, SCUTE_OUTCOME_REPAIRED);
          return post(SCUTE_EVENT_PARITY, SCUTE_OUTCOME_REPAIRED, at, pool::column_block);
        }
        if (round < looks_max) continue;
      }
      found("parity", at, pool::column_block, 0, SCUTE_OUTCOME_DETECTED);
      return post(SCUTE_EVENT_PARITY, SCUTE_OUTCOME_DETECTED, at, pool::column_block);
    }
  }

  struct loss {
    pool::fragment f;
    const char* what;
    uint64_t oid;
    uint64_t tried;                     // repairs_ at the last try
    std::optional<heap::object> whole;  // if it is the first fragment of one
  };

  pool::state& s_;
  heap::heap& heap_;
  const check_options& o_;
  scute_report& r_;
  uint64_t done_ = 0, reported_ = 0, total_ = 0;
  std::set<std::pair<uint64_t, uint64_t>> suspect_blocks_;
  std::map<uint64_t, uint64_t>
      reported_for_;  // headers that could not be repaired, and repairs_ then
  std::vector<loss> lost_;
  pool::erasure_hints hints_;
  uint64_t repairs_ = 0;
};

}  // namespace

void check(pool::state& s, heap::heap& h, const check_options& options, scute_report& report) {
  checker(s, h, options, report).run();
}

}  // namespace scute::core::scrub

// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/resolution.hpp"

#include <algorithm>
#include <cstring>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "base/rounding.hpp"
#include "codec/parity/parity.hpp"
#include "core/engine/logfree/crash_or_damage.hpp"
#include "core/engine/logfree/extents.hpp"
#include "core/engine/logfree/recovery_decision.hpp"
#include "core/repair/erasure/decode_candidates.hpp"
#include "core/repair/erasure/hybrid_decode.hpp"
#include "core/repair/page_layout.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"

namespace scute::core::engine {
namespace {

constexpr uint64_t ahead = 32 * pool::column_block;

}  // namespace

// The slow part; one thread at a time runs it.
class SCUTE_SCOPED resolution::solving {
 public:
  explicit solving(resolution& r) SCUTE_ACQUIRE(r.mutex_) : r_(r) {
    r_.mutex_.lock();
    r_.solver_.store(std::this_thread::get_id(), std::memory_order_seq_cst);
  }
  ~solving() SCUTE_RELEASE() {
    r_.solver_.store({}, std::memory_order_release);
    r_.mutex_.unlock();
  }
  solving(const solving&) = delete;
  solving& operator=(const solving&) = delete;

 private:
  resolution& r_;
};

resolution::resolution(pool::state& s, uint64_t resolved, uint64_t present)
    : s_(s),
      resolved_(resolved),
      present_(present),
      crash_or_damage_(s, resolved, present),
      w_(*s.medium) {
  per_zone_ = s.geo.row_size / block_size;
  total_ = per_zone_ * s.geo.zone_count;
  for (bitmap* const bits : {&sound_bits_, &seen_bits_, &resolved_bits_})
    bits->reset(new std::atomic<uint64_t>[(total_ + 63) / 64]());
  if (s.medium->what() == medium::kind::file) {
    w_.flush(s_.medium->base(), s_.medium->size(), medium::purpose::data);
    w_.fence(fence_site::resolve_sync);
    s_.require_healthy();
    synced_ = true;
  }
  pending_.store(true, std::memory_order_release);
}

bool resolution::in_doubt(uint64_t tag) const noexcept {
  return ((epoch_of(tag) - resolved_ - 1) & epoch_mask) < present_ - resolved_ - 1;
}

bool resolution::is_of_this_session(uint64_t tag) const noexcept {
  return epoch_of(tag) == (present_ & epoch_mask);
}

// ---- callers ------------------------------------------------------------------------------------

void resolution::before_write(uint64_t offset, uint64_t length) {
  if (!pending() || ours()) return;
  for_each_part(s_.geo, offset, length, [&](uint64_t, uint64_t zone, uint64_t column, uint64_t) {
    resolve(zone, column / block_size);
  });
}

void resolution::before_change(const pool::fragment& f) {
  if (!pending() || ours()) return;
  const auto h = header_at(f.header);
  if (h.next == f.header || !in_doubt(h.tag)) return;
  std::vector<pool::fragment> members;
  for (uint64_t end = 0; !walk(f, invalid_member::pass, members, end) && repair_at(end);)
    members.clear();
  for (const pool::fragment& m : members) {
    const uint32_t n = pool::covered(s_, m, header_at(m.header));
    for_each_extent(m, n == pool::not_covered ? 0 : n,
                    [&](uint64_t offset, uint64_t length) { before_write(offset, length); });
  }
}

// Called where a ring does not continue: a member that was damaged, not torn, may be in the way.
// Returns true if this call has made the member valid.
bool resolution::repair_at(uint64_t header) {
  pool::fragment m;
  if (repair::place_at(s_, header, m) && pool::valid(s_, m)) return false;
  before_write(header, format::header_size);
  if (!repair::place_at(s_, header, m)) return false;
  const solving here(*this);
  return pool::valid(s_, m) || repair(m);
}

void resolution::before_read(const pool::fragment& f) {
  if (!pending() || ours()) return;
  const auto h = header_at(f.header);
  // A torn header may have an old tag and anything else.
  const uint32_t n = pool::covered(s_, f, h);
  if (!in_doubt(h.tag) && pool::valid(s_, f)) {
    // A thread that resolves may have made it valid a moment ago. It is durable when that thread is
    // done.
    if (solver_.load(std::memory_order_acquire) != std::thread::id()) {
      const locked until_done(mutex_);
    }
    return;
  }
  for_each_extent(f, n == pool::not_covered ? 0 : n,
                  [&](uint64_t offset, uint64_t length) { before_write(offset, length); });
}

void resolution::before_overwrite(uint64_t offset, uint64_t length) {
  if (!pending()) return;
  before_write(offset, length);
  change_all(offset, length);
}

void resolution::before_reuse(uint64_t offset, uint64_t length) {
  if (!pending()) return;
  before_overwrite(offset, length);
  // Without a span's head no header says where the further headers of the span lie (LAYOUT-1).
  for (uint64_t at = offset; at < offset + length; at += s_.geo.chunk_size)
    if (const repair::header_area area = repair::span_headers(s_, at); area.length != 0)
      change_all(area.offset, area.length);
}

// Resolves everything that has bytes in [offset, offset + length), which is about to be
// overwritten.
void resolution::change_all(uint64_t offset, uint64_t length) {
  std::vector<pool::fragment> all;
  for (uint64_t at = round_down(offset, format::page); at < offset + length; at += format::page)
    repair::for_each_place(s_, at,
                           [&](const repair::fragment_in_page& p) { all.push_back(p.fragment); });
  for (const pool::fragment& f : all) before_change(f);
}

bool resolution::scan(uint64_t blocks) {
  for (uint64_t k = 0; k < blocks; ++k) {
    const uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= total_) return false;
    const uint64_t column = i % per_zone_ * block_size;
    if (column % ahead == 0) pool::will_read_columns(s_, i / per_zone_, column, ahead);
    resolve(i / per_zone_, i % per_zone_);
  }
  return true;
}

// ---- one block ----------------------------------------------------------------------------------

void resolution::resolve(uint64_t zone, uint64_t block) {
  if (is_resolved(zone, block)) return;
  const uint64_t column = block * block_size;
  const uint64_t n = std::min(block_size, s_.geo.row_size - column);
  if (column < s_.used_end[zone].load(std::memory_order_acquire)) {
    if (!is_sound(zone, block) && !pool::column_consistent(s_, zone, column, n)) {
      const solving here(*this);
      if (!is_over(zone, block)) resolve_with_rings(zone, block);
    }
    set(sound_bits_, zone, block);
    if (is_set(seen_bits_, zone, block) &&
        solver_.load(std::memory_order_seq_cst) != std::thread::id()) {
      const locked until_done(mutex_);
    }
    medium::writer w(*s_.medium);
    flush_parity(zone, block, w);
  }
  mark(zone, block);
}

// All fragments with bytes in a block. Repairs the headers that say where they lie first.
std::vector<resolution::found> resolution::fragments_in(uint64_t zone, uint64_t block,
                                                        first_headers valid) {
  std::vector<found> all;
  const auto& g = s_.geo;
  const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
  for (uint64_t row = 0; row < g.rows; ++row) {
    const uint64_t inside = row * g.row_size + block * block_size;
    if (inside >= end) break;
    const uint64_t page = g.zone_offset(zone) + inside;
    if (inside + block_size > g.chunk_base) {
      const uint64_t from = inside < g.chunk_base ? 0 : inside - g.chunk_base;
      uint64_t index = from >> g.chunk_shift;
      if (index < g.chunks) {
        const auto sound = [&](uint64_t i) {
          mutex_.assume_held();
          const auto f =
              pool::metadata_fragment(g.chunk_header_offset(zone, i), format::type_chunk);
          if (pool::valid(s_, f) || repair(f)) return true;
          all.push_back({f, 0, what::unknown, page, block_size});
          return false;
        };
        // A span's head, then its first fragment, say what lies in the span's bodies.
        if (sound(index)) {
          format::chunk_header h;
          std::memcpy(&h, s_.at(g.chunk_header_offset(zone, index)), sizeof h);
          if (h.kind == static_cast<uint8_t>(format::chunk_kind::span_body) && h.length <= index) {
            index -= h.length;
            sound(index);
          }
        }
      }
    }
    const size_t before = all.size();
    const auto collect = [&] {
      all.resize(before);
      repair::for_each_place(s_, page, [&](const repair::fragment_in_page& p) {
        all.push_back({p.fragment, p.object, p.claimed ? what::claimed : what::place});
      });
    };
    collect();
    // An object's first header says which further fragments it has, so it is resolved first.
    bool again = false;
    std::set<uint64_t> lost;
    uint64_t known = 0;
    for (size_t i = before; i < all.size(); ++i) {
      const pool::fragment& f = all[i].fragment;
      if (f.metadata || f.object_room <= format::fragment_payload) continue;
      const pool::fragment first = repair::first_of(f);
      if (std::exchange(known, first.header) == first.header) continue;
      if (pool::valid(s_, first))
        again =
            (valid == first_headers::are_explained && !is_left_alone(first) && explain(first)) ||
            again;
      else if (repair(first))
        again = true;
      else
        lost.insert(first.header);
    }
    if (again) collect();
    // Without the first header nothing says whether these are fragments.
    for (size_t i = before; i < all.size(); ++i)
      if (all[i].is == what::place && lost.count(repair::first_of(all[i].fragment).header) != 0)
        all[i].is = what::unknown;
  }
  return all;
}

// RES-5: also resolves the blocks of the rings that are found to be decided.
void resolution::resolve_with_rings(uint64_t zone, uint64_t block) {
  due_.clear();
  due_.push_back({zone, block});
  for (size_t i = 0; i < due_.size(); ++i) {
    const auto [z, b] = due_[i];
    const bool callers = z == zone && b == block;
    if (callers ? i != 0 : is_over(z, b)) continue;
    resolve_dirty(z, b);
    if (callers) continue;
    flush_parity(z, b, w_);
    mark(z, b);
  }
}

// RES-8
void resolution::flush_parity(uint64_t zone, uint64_t block, medium::writer& w) {
  if (synced_) return;
  const uint64_t column = block * block_size;
  for (uint32_t p = 0; p < s_.geo.parity; ++p)
    w.flush(s_.at(pool::parity_offset(s_.geo, zone, column, p)),
            std::min(block_size, s_.geo.row_size - column), medium::purpose::parity);
  w.fence(fence_site::resolve_parity);
  s_.require_healthy();
}

void resolution::resolve_dirty(uint64_t zone, uint64_t block) {
  remains left = explain_block(zone, block);
  while (help(zone, block, left)) left = explain_block(zone, block);
  if (!left.adds_up) {
    for (const found& x : left.doubtful) {
      const pool::cell c = pool::cell_of(s_.geo, x.fragment.header);
      if (c.zone == zone && c.column / block_size == block && !testifies(x.fragment.header))
        computed_.insert(x.fragment.header);
    }
    recompute_rest(zone, block, left);
  }
  for (const found& x : left.open) {
    if (x.is != what::claimed) continue;
    if (all_resolved_but(zone, block, x.fragment)) {
      report_lost(x.fragment);
    } else {
      const locked hold(reporting_);
      unreported_.emplace(x.fragment.header, x.fragment);
    }
  }
}

// Explains everything in a block that its columns explain by themselves.
resolution::remains resolution::explain_block(uint64_t zone, uint64_t block) {
  const uint64_t column = block * block_size;
  const uint64_t n = std::min(block_size, s_.geo.row_size - column);
  remains left;
  // Each round except the last one explains at least one fragment permanently.
  for (bool explained = true; explained;) {
    explained = false;
    switch_point();  // others may find that the block adds up
    const std::vector<found> all = fragments_in(zone, block, first_headers::are_explained);
    left.open.clear();
    left.doubtful.clear();
    for (const found& x : all)
      if (x.is != what::place && !is_left_alone(x.fragment) && !pool::valid(s_, x.fragment) &&
          !repair(x.fragment))
        left.open.push_back(x);
    pool::column_syndrome(s_, zone, column, n, left.syndrome);
    left.adds_up = codec::is_zero(left.syndrome, s_.geo.parity * n);
    if (left.adds_up) break;
    const auto adds_up = [&](uint64_t from, uint64_t length) {
      for (uint32_t p = 0; p < s_.geo.parity; ++p)
        if (!codec::is_zero(left.syndrome + p * n + from, length)) return false;
      return true;
    };
    for (const found& x : all) {
      const pool::cell c = pool::cell_of(s_.geo, x.fragment.header);
      // The header of an open member does not add up; it may lie in another block.
      if (c.zone == zone && c.column >= column && c.column + format::header_size <= column + n &&
          adds_up(c.column - column, format::header_size))
        continue;
      if (is_left_alone(x.fragment) || !pool::valid(s_, x.fragment)) continue;
      explained = explain(x.fragment);
      if (explained) break;
      if (!x.fragment.metadata && in_doubt(header_at(x.fragment.header).tag))
        left.doubtful.push_back(x);
    }
  }
  return left;
}

// Whether this is the fragment's only block that is not resolved.
bool resolution::all_resolved_but(uint64_t zone, uint64_t block, const pool::fragment& f) const {
  bool all = true;
  for (const repair::unit& u : repair::units_of(f))
    for_each_part(s_.geo, u.offset, u.length, [&](uint64_t, uint64_t z, uint64_t c, uint64_t) {
      const uint64_t b = c / block_size;
      all = all && ((z == zone && b == block) || is_resolved(z, b));
    });
  return all;
}

// ---- writing ------------------------------------------------------------------------------------

void resolution::write(uint64_t offset, const std::byte* bytes, uint64_t length) {
  s_.require_healthy();
  ++writes_;
  for_each_part(
      s_.geo, offset, length, [&](uint64_t at, uint64_t zone, uint64_t column, uint64_t n) {
        mutex_.assume_held();
        const uint32_t stripe = pool::stripes::index(zone, column / block_size);
        s_.locks.lock_exclusive(stripe);
        {
          const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
          w_.stream(s_.at(at), bytes + (at - offset), n, medium::purpose::data);
          w_.fence(fence_site::resolve);
        }
        s_.locks.unlock_exclusive(stripe, pool::stripes::stores::streamed);
      });
  s_.require_healthy();
}

void resolution::recompute(uint64_t zone, uint64_t column, uint64_t length) {
  s_.require_healthy();
  ++writes_;
  pool::repair_parity(s_, w_, zone, column, length, nullptr, pool::freed::when_durable);
  s_.require_healthy();
}

// RES-8: the bytes there may have no owner, or be damaged. The parity has to match them anyway.
void resolution::recompute_as_it_is(uint64_t zone, uint64_t column, uint64_t length) {
  const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
  for (uint64_t row = 0; row < s_.geo.rows; ++row) {
    const uint64_t inside = row * s_.geo.row_size + column;
    if (inside >= end) break;
    w_.flush(s_.at(s_.geo.zone_offset(zone) + inside), length, medium::purpose::data);
  }
  w_.fence(fence_site::resolve_slack);
  recompute(zone, column, length);
}

// Every fragment that a checksum accepts is sound, so the parity is recomputed from the data.
// Columns of invalid fragments, and of bytes without a header that describes them, keep their
// parity (RES-9): it may be all that is left of them.
void resolution::recompute_rest(uint64_t zone, uint64_t block, const remains& left) {
  const uint64_t column = block * block_size;
  const uint64_t n = std::min(block_size, s_.geo.row_size - column);
  const std::byte* syndrome = left.syndrome;
  std::vector<bool> keep(n);
  const auto keep_columns = [&](uint64_t offset, uint64_t bytes) {
    for_each_part(s_.geo, offset, bytes, [&](uint64_t, uint64_t z, uint64_t c, uint64_t length) {
      if (z != zone || c < column || c >= column + n) return;
      std::fill_n(keep.begin() + static_cast<int64_t>(c - column), length, true);
    });
  };
  for (const found& x : left.open) {
    for (const repair::unit& u : repair::units_of(x.fragment)) keep_columns(u.offset, u.length);
    keep_columns(x.from, x.length);
  }
  const auto wrong = [&](uint64_t i) {
    if (keep[i]) return false;
    for (uint32_t p = 0; p < s_.geo.parity; ++p)
      if (syndrome[p * n + i] != std::byte{0}) return true;
    return false;
  };
  crash_or_damage_.will_recompute(zone, column, n, wrong);
  for (uint64_t from = 0, to = 0; from < n; from = to + 1) {
    for (to = from; to < n && wrong(to);) ++to;
    if (to == from) continue;
    recompute_as_it_is(zone, column + from, to - from);
  }
}

}  // namespace scute::core::engine

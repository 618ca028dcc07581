// SPDX-License-Identifier: BSD-3-Clause
#include "heal/resolution.hpp"

#include <algorithm>
#include <cstring>

#include "codec/parity.hpp"
#include "heal/extents.hpp"
#include "heal/mixture.hpp"
#include "heal/page_layout.hpp"
#include "heal/repair.hpp"
#include "heal/verdict.hpp"
#include "heal/versions.hpp"
#include "medium/planted.hpp"
#include "pool/columns.hpp"
#include "pool/hold.hpp"

namespace scute::heal {
namespace {

constexpr uint64_t block_size = pool::column_block, ahead = 32 * block_size;
constexpr uint64_t epoch_mask = 0xffffff;

uint64_t epoch_of(uint64_t tag) noexcept {
  return tag >> 40;
}

format::fragment_header header_at(const pool::state& s, uint64_t offset) noexcept {
  format::fragment_header h;
  std::memcpy(&h, s.at(offset), sizeof h);
  return h;
}

// The fragment whose header lies at an offset of the data rows, if there can be one.
bool fragment_at(const pool::state& s, uint64_t header, pool::fragment& f) noexcept {
  bool any = false;
  for_each_fragment(s, header & ~(format::page - 1), [&](const fragment_in_page& p) {
    if (p.fragment.header != header) return;
    f = p.fragment;
    any = true;
  });
  return any;
}

}  // namespace

resolution::resolution(pool::state& s, uint64_t resolved, uint64_t present)
    : s_(s), resolved_(resolved), present_(present), cause_(s, resolved, present), w_(*s.medium) {
  per_zone_ = s.geo.row_size / block_size;
  total_ = per_zone_ * s.geo.zone_count;
  bits_.reset(new std::atomic<uint64_t>[(total_ + 63) / 64]());
  if (s.medium->what() == medium::kind::file) {
    w_.flush(s_.medium->base(), s_.medium->size(), medium::purpose::data);
    w_.fence();
    s_.require_healthy();
    synced_ = true;
  }
  pending_.store(true, std::memory_order_release);
}

bool resolution::is_resolved(uint64_t zone, uint64_t block) const noexcept {
  const uint64_t i = zone * per_zone_ + block;
  return (bits_[i / 64].load(std::memory_order_acquire) >> i % 64 & 1) != 0;
}

void resolution::mark(uint64_t zone, uint64_t block) noexcept {
  const uint64_t i = zone * per_zone_ + block;
  const uint64_t bit = uint64_t{1} << i % 64;
  if ((bits_[i / 64].fetch_or(bit, std::memory_order_acq_rel) & bit) == 0)
    done_.fetch_add(1, std::memory_order_relaxed);
}

bool resolution::in_doubt(uint64_t tag) const noexcept {
  if (SCUTE_PLANTED(resolve_epochs)) return epoch_of(tag) == ((present_ - 1) & epoch_mask);
  return ((epoch_of(tag) - resolved_ - 1) & epoch_mask) < present_ - resolved_ - 1;
}

// ---- who asks -----------------------------------------------------------------------------------------

void resolution::before_write(uint64_t offset, uint64_t length) {
  if (!pending() || ours() || SCUTE_PLANTED(resolve_writes)) return;
  for_each_part(s_.geo, offset, length, [&](uint64_t, uint64_t zone, uint64_t column, uint64_t) {
    resolve(zone, column / block_size);
  });
}

void resolution::before_change(const pool::fragment& f) {
  if (!pending() || ours() || SCUTE_PLANTED(resolve_rings)) return;
  const auto h = header_at(s_, f.header);
  if (h.next == f.header || !in_doubt(h.tag)) return;
  std::vector<pool::fragment> members;
  walk(f, false, [&](const pool::fragment& m) { members.push_back(m); });
  for (const pool::fragment& m : members) {
    const auto mh = header_at(s_, m.header);
    const uint32_t n = pool::covered(s_, m, mh);
    for_each_extent(m, n == pool::not_covered ? 0 : n,
                    [&](uint64_t offset, uint64_t length) { before_write(offset, length); });
  }
}

void resolution::before_read(const pool::fragment& f) {
  if (!pending() || ours() || SCUTE_PLANTED(resolve_reads)) return;
  const auto h = header_at(s_, f.header);
  // A torn header may have an old tag and anything else.
  const uint32_t n = pool::covered(s_, f, h);
  if (!in_doubt(h.tag) && pool::valid(s_, f)) return;
  for_each_extent(f, n == pool::not_covered ? 0 : n,
                  [&](uint64_t offset, uint64_t length) { before_write(offset, length); });
}

void resolution::before_reuse(uint64_t offset, uint64_t length) {
  if (!pending()) return;
  before_write(offset, length);
  std::vector<pool::fragment> all;
  for (uint64_t at = offset & ~(format::page - 1); at < offset + length; at += format::page)
    for_each_fragment(s_, at, [&](const fragment_in_page& p) { all.push_back(p.fragment); });
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

// ---- one block ----------------------------------------------------------------------------------------

void resolution::resolve(uint64_t zone, uint64_t block) {
  if (is_resolved(zone, block)) return;
  const uint64_t column = block * block_size;
  const uint64_t n = std::min(block_size, s_.geo.row_size - column);
  if (column < s_.used_end[zone].load(std::memory_order_acquire)) {
    if (!pool::column_consistent(s_, zone, column, n) && !SCUTE_PLANTED(resolve_blocks)) {
      const std::lock_guard hold(mutex_);
      solver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      struct end {
        resolution& r;
        ~end() { r.solver_.store({}, std::memory_order_relaxed); }
      } const when_done{*this};
      if (!is_resolved(zone, block)) resolve_with_rings(zone, block);
    }
    medium::writer w(*s_.medium);
    flush_parity(zone, block, w);
  }
  mark(zone, block);
}

// All fragments with bytes in a block, after what tells where they are has been put right.
std::vector<resolution::found> resolution::fragments_in(uint64_t zone, uint64_t block,
                                                        bool explaining) {
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
          const auto f =
              pool::metadata_fragment(g.chunk_header_offset(zone, i), format::type_chunk);
          return pool::valid(s_, f) || mend(f);
        };
        // A span's head, then its first fragment, tell what there is in its bodies.
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
    const auto collect = [&] {
      for_each_fragment(s_, page,
                        [&](const fragment_in_page& p) { all.push_back({p.fragment, p.object}); });
    };
    const size_t before = all.size();
    collect();
    if (SCUTE_PLANTED(resolve_one_size) && !all.empty())
      std::erase_if(all, [room = all.back().fragment.object_room](const found& x) {
        return !x.fragment.metadata && x.fragment.object_room != room;
      });
    // What further fragments an object has its first header tells, so that is settled before.
    bool again = false;
    const size_t listed = all.size();
    for (size_t i = before; i < listed; ++i) {
      pool::fragment first = all[i].fragment;
      if (first.metadata || first.object_room <= format::fragment_payload) continue;
      const uint64_t payload = first.payload - first.index * format::fragment_payload;
      first.header -= first.index * format::header_size;
      first.payload = payload;
      first.index = 0;
      first.room = static_cast<uint32_t>(std::min(format::fragment_payload, first.object_room));
      again = (pool::valid(s_, first) ? explaining && explain(first) : mend(first)) || again;
    }
    if (again) {
      all.resize(before);
      collect();
    }
  }
  return all;
}

// Y5: along with the blocks of the rings that are found to be decided.
void resolution::resolve_with_rings(uint64_t zone, uint64_t block) {
  due_.clear();
  due_.push_back({zone, block});
  for (size_t i = 0; i < due_.size(); ++i) {
    const auto [z, b] = due_[i];
    if (is_resolved(z, b)) continue;
    resolve_dirty(z, b);
    if (z == zone && b == block) continue;  // the caller's
    flush_parity(z, b, w_);
    mark(z, b);
  }
}

// Y8
void resolution::flush_parity(uint64_t zone, uint64_t block, medium::writer& w) {
  if (synced_ || SCUTE_PLANTED(resolve_parity_flush)) return;
  const uint64_t column = block * block_size;
  w.flush(s_.at(pool::parity_offset(s_.geo, zone, column)),
          std::min(block_size, s_.geo.row_size - column), medium::purpose::parity);
  w.fence();
  s_.require_healthy();
}

void resolution::resolve_dirty(uint64_t zone, uint64_t block) {
  const uint64_t column = block * block_size;
  const uint64_t n = std::min(block_size, s_.geo.row_size - column);
  std::byte syndrome[pool::syndrome_max];
  std::vector<found> lost;
  // Each round but the last one explains at least one fragment, for good.
  for (;;) {
    const std::vector<found> all = fragments_in(zone, block, true);
    lost.clear();
    for (const found& x : all)
      if (!pool::valid(s_, x.fragment) && !mend(x.fragment)) lost.push_back(x);
    pool::column_syndrome(s_, zone, column, n, syndrome);
    if (codec::is_zero(syndrome, s_.geo.parity * n)) break;
    const auto adds_up = [&](uint64_t from, uint64_t length) {
      for (uint32_t p = 0; p < s_.geo.parity; ++p)
        if (!codec::is_zero(syndrome + p * n + from, length)) return false;
      return true;
    };
    bool explained = false;
    for (const found& x : all) {
      const pool::cell c = pool::cell_of(s_.geo, x.fragment.header);
      // The header of an open member does not add up; it may lie in another block.
      if (c.zone == zone && c.column >= column && c.column + format::header_size <= column + n &&
          adds_up(c.column - column, format::header_size))
        continue;
      if (explain(x.fragment)) {
        explained = true;
        break;
      }
    }
    if (!explained) {
      recompute_rest(zone, block, syndrome, lost);
      break;
    }
  }
  for (const found& x : lost) {
    if (!told_.insert(x.fragment.header).second) continue;
    s_.lost.fetch_add(1, std::memory_order_relaxed);
    s_.events.post(event_of(s_, x.fragment, SCUTE_OUTCOME_LOST));
  }
}

// An invalid fragment: what its columns decode to, or a mixture of that and what is stored. False if
// nothing is accepted.
bool resolution::mend(const pool::fragment& f) {
  if (SCUTE_PLANTED(resolve_mend)) return false;
  const std::vector<unit> units = units_of(f);
  std::vector<std::byte> image;
  if (!find_sound(s_, f, doubts(), image)) return false;
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  const auto stored = header_at(s_, f.header);
  // Only what the checksum vouches for (D5).
  size_t sure = format::header_size + pool::covered(s_, f, h);
  if (SCUTE_PLANTED(resolve_free_payload)) {
    sure = image.size();
    for (const unit& u : units) pool::decode(s_, u.offset, image.data() + u.at, u.length);
  }
  // The header last: it tells what this is (heal/cause.hpp, U2).
  for (auto u = units.rbegin(); u != units.rend(); ++u) {
    if (u->at >= sure) continue;
    const size_t n = std::min(u->length, sure - u->at);
    write(u->offset, image.data() + u->at, n);
  }
  if (cause_.put_back(f, stored, h)) rolled_back_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// A valid fragment: if it is the open cell of its columns, puts that right and returns true.
bool resolution::explain(const pool::fragment& f) {
  if (f.metadata || !in_doubt(header_at(s_, f.header).tag)) return false;
  version before;
  if (!find_other(s_, f, doubts(), before)) return false;
  const ring members = ring_complete(f) ? ring::complete : ring::broken;
  switch (judge(stored::valid, decoded::other, members)) {
    case verdict::finish:
      finish_ring(f);
      finished_.fetch_add(1, std::memory_order_relaxed);
      return true;
    case verdict::roll_back:
      if (SCUTE_PLANTED(resolve_broken)) {
        finish_ring(f);
        return true;
      }
      // The header last: while it is the new one, the fragment is in doubt or invalid.
      write(f.payload, before.payload.data(), before.payload.size());
      write(f.header, reinterpret_cast<const std::byte*>(&before.header), sizeof before.header);
      rolled_back_.fetch_add(1, std::memory_order_relaxed);
      return true;
    default: return false;
  }
}

// ---- rings --------------------------------------------------------------------------------------------

template <typename Fn>
bool resolution::walk(const pool::fragment& f, bool must_be_valid, Fn&& fn) {
  const uint64_t tag = header_at(s_, f.header).tag;
  const uint64_t most = s_.geo.file_size / format::header_size;
  pool::fragment m = f;
  for (uint64_t i = 0; i < most; ++i) {
    // A member that is damaged, not torn, may well be of a decided transaction: its column tells, if the
    // parity has it already. What was torn comes back with its old tag.
    if (must_be_valid && !pool::valid(s_, m) && (SCUTE_PLANTED(ring_damage) || !mend(m)))
      return false;
    const auto h = header_at(s_, m.header);
    if (h.tag != tag || pool::covered(s_, m, h) == pool::not_covered) return false;
    fn(m);
    if (h.next == f.header) return true;
    if (fragment_at(s_, h.next, m)) continue;
    if (!must_be_valid) return false;
    // Or what tells where it lies is damaged.
    const pool::cell c = pool::cell_of(s_.geo, h.next);
    fragments_in(c.zone, c.column / block_size, false);
    if (!fragment_at(s_, h.next, m)) return false;
  }
  return false;
}

bool resolution::ring_complete(const pool::fragment& f) {
  if (SCUTE_PLANTED(resolve_ring)) return true;
  return walk(f, true, [](const pool::fragment&) {});
}

// f is a member of a decided transaction, and its columns have the parity of before. Those of the other
// members may have the new one already, and be open to somebody else since (in a session that resolved
// them): they are left to the resolution of their own blocks.
void resolution::finish_ring(const pool::fragment& f) {
  std::vector<pool::fragment> members;
  walk(f, false, [&](const pool::fragment& m) { members.push_back(m); });
  const auto extents = [&](const pool::fragment& m, auto&& fn) {
    for_each_extent(
        m, pool::covered(s_, m, header_at(s_, m.header)),
        [&](uint64_t offset, uint64_t length) { for_each_part(s_.geo, offset, length, fn); });
  };
  if (!SCUTE_PLANTED(resolve_data_flush)) {  // Y8
    for (const pool::fragment& m : members)
      extents(m, [&](uint64_t offset, uint64_t, uint64_t, uint64_t n) {
        w_.flush(s_.at(offset), n, medium::purpose::data);
      });
    w_.fence();
    s_.require_healthy();
  }
  extents(
      f, [&](uint64_t, uint64_t zone, uint64_t column, uint64_t n) { recompute(zone, column, n); });
  for (const pool::fragment& m : members)
    extents(m, [&](uint64_t, uint64_t zone, uint64_t column, uint64_t) {
      due_.push_back({zone, column / block_size});
    });
}

// ---- writing ------------------------------------------------------------------------------------------

void resolution::write(uint64_t offset, const std::byte* bytes, uint64_t length) {
  s_.require_healthy();
  for_each_part(s_.geo, offset, length,
                [&](uint64_t at, uint64_t zone, uint64_t column, uint64_t n) {
                  const uint32_t stripe = pool::stripes::index(zone, column / block_size);
                  s_.locks.lock_exclusive(stripe);
                  {
                    const pool::holding here(s_, stripe, false);
                    w_.stream(s_.at(at), bytes + (at - offset), n, medium::purpose::data);
                    if (!SCUTE_PLANTED(resolve_fence)) w_.fence();
                  }
                  s_.locks.unlock_exclusive(stripe, true);
                });
  s_.require_healthy();
}

void resolution::recompute(uint64_t zone, uint64_t column, uint64_t length) {
  s_.require_healthy();
  pool::repair_parity(s_, w_, zone, column, length, nullptr, true);
  s_.require_healthy();
}

// Everything that vouches for itself is sound: the parity follows, but for the columns of what is lost,
// which may be all that is left of it.
void resolution::recompute_rest(uint64_t zone, uint64_t block, const std::byte* syndrome,
                                const std::vector<found>& lost) {
  const uint64_t column = block * block_size;
  const uint64_t n = std::min(block_size, s_.geo.row_size - column);
  std::vector<bool> keep(n);
  for (const found& x : lost)
    for (const unit& u : units_of(x.fragment))
      for_each_part(s_.geo, u.offset, u.length,
                    [&](uint64_t, uint64_t z, uint64_t c, uint64_t length) {
                      if (z != zone || c < column || c >= column + n) return;
                      std::fill_n(keep.begin() + static_cast<int64_t>(c - column), length, true);
                    });
  const auto wrong = [&](uint64_t i) {
    if (keep[i]) return false;
    for (uint32_t p = 0; p < s_.geo.parity; ++p)
      if (syndrome[p * n + i] != std::byte{0}) return true;
    return false;
  };
  cause_.will_recompute(zone, column, n, wrong);
  for (uint64_t from = 0, to = 0; from < n; from = to + 1) {
    for (to = from; to < n && wrong(to);) ++to;
    if (to == from) continue;
    // Y8: what lies there may be nobody's, and still has to be what the parity says.
    const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
    for (uint64_t row = 0; row < s_.geo.rows; ++row) {
      const uint64_t inside = row * s_.geo.row_size + column + from;
      if (inside >= end) break;
      w_.flush(s_.at(s_.geo.zone_offset(zone) + inside), to - from, medium::purpose::data);
    }
    w_.fence();
    recompute(zone, column + from, to - from);
  }
}

}  // namespace scute::heal

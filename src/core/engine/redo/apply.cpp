// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/redo/apply.hpp"

#include "codec/parity/parity.hpp"
#include "core/engine/redo/invalidate_peer_entry.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"

namespace scute::core::engine {
namespace {

// How medium::writer stores this many bytes.
pool::stripes::stores stores_of(uint64_t n) noexcept {
  return n >= medium::nt_threshold ? pool::stripes::stores::streamed
                                   : pool::stripes::stores::ordinary;
}

}  // namespace

void apply(pool::state& s, pool::lane& l) noexcept {
  const medium::cost_scope as(medium::cost_part::parity);
  for (const pool::piece& p : l.pieces) {
    const auto merge = [&](pool::stripe_owner old) noexcept {
      return next_owner(s, l, p.stripe, old);
    };
    std::byte* data = s.at(p.offset);
    if (s.has_parity && p.length <= atomic_parity_max) {
      if (!s.locks.lock_shared(p.stripe)) l.w.count.lock_waits.add(1);
      {
        const pool::in_flight_scope here(s, p.stripe, pool::in_flight_write::mode::shared);
        codec::xor_delta(l.scratch, pool::old_bytes(s, p), p.src, p.length);
        std::byte* parity = s.at(p.parity);
        pool::in_flight_scope::piece(p.offset, p.parity, p.length, p.src, nullptr, l.scratch);
        pool::enter_phase(pool::in_flight_write::phase::parity);
        codec::xor_into_atomic(parity, l.scratch, p.length, pool::held_in_flight().done);
        l.w.flush(parity, p.length, medium::purpose::parity);
        pool::enter_phase(pool::in_flight_write::phase::data);
        const medium::cost_scope data_alone(medium::cost_part::data);
        l.w.stream(data, p.src, p.length, p.why);
      }
      s.locks.unlock_shared(p.stripe, merge);
      continue;
    }
    if (!s.locks.lock_exclusive(p.stripe)) l.w.count.lock_waits.add(1);
    {
      const pool::in_flight_scope here(s, p.stripe, pool::in_flight_write::mode::exclusive);
      if (s.has_parity) {
        std::byte* parity = s.at(p.parity);
        codec::xor_encode(l.scratch, parity, pool::old_bytes(s, p), p.src, p.length);
        pool::in_flight_scope::piece(p.offset, p.parity, p.length, p.src, l.scratch, nullptr);
        pool::enter_phase(pool::in_flight_write::phase::parity);
        l.w.stream(parity, l.scratch, p.length, medium::purpose::parity);
        pool::enter_phase(pool::in_flight_write::phase::data);
      }
      const medium::cost_scope data_alone(medium::cost_part::data);
      l.w.stream(data, p.src, p.length, p.why);
    }
    s.locks.unlock_exclusive(p.stripe, stores_of(p.length), merge);
  }
}

void apply_in_place(pool::state& s, pool::lane& l, uint64_t offset, const std::byte* old,
                    const std::byte* now, uint64_t length) noexcept {
  pool::for_each_block(s.geo, offset, length, [&](uint64_t at, const pool::cell& c, uint64_t n) {
    const uint32_t stripe =
        pool::stripes::index(c.zone, (s.has_parity ? c.column : at) / pool::column_block);
    if (!s.locks.lock_exclusive(stripe)) l.w.count.lock_waits.add(1);
    {
      const pool::in_flight_scope here(s, stripe, pool::in_flight_write::mode::exclusive);
      if (s.has_parity) {
        const uint64_t parity_at = pool::parity_offset(s.geo, c.zone, c.column);
        std::byte* parity = s.at(parity_at);
        codec::xor_encode(l.scratch, parity, old + (at - offset), now + (at - offset), n);
        pool::in_flight_scope::piece(at, parity_at, static_cast<uint32_t>(n), now + (at - offset),
                                     l.scratch, nullptr);
        pool::enter_phase(pool::in_flight_write::phase::parity);
        l.w.stream(parity, l.scratch, n, medium::purpose::parity);
        pool::enter_phase(pool::in_flight_write::phase::data);
      }
      s.overlaid.remove(at);
    }
    s.locks.unlock_exclusive(stripe, stores_of(n), [&](pool::stripe_owner o) noexcept {
      return next_owner(s, l, stripe, o);
    });
  });
}

}  // namespace scute::core::engine

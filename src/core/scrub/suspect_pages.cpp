// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/suspect_pages.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "base/locks/lock.hpp"
#include "core/repair/page_layout.hpp"

namespace scute::core::scrub {

// For a page: the bytes that replay wrote to it, and the columns that it wrote to in other rows.
struct suspect_pages::uncertain {
  std::bitset<format::page> replayed, torn;
  bool any() const noexcept { return (torn & ~replayed).any(); }
  bool operator[](size_t i) const noexcept { return torn[i] && !replayed[i]; }
};

void suspect_pages::replay_begins() {
  repairer_.suspect(true);
  for (const uint64_t page : known_)
    if (s_.medium->is_revoked(page))
      repairer_.repair(page, repair::page_repairer::beyond_repair::condoned, SCUTE_FINDER_OPEN);
}

void suspect_pages::parity_begins(std::span<const pool::data_range> written) {
  // The list can grow while it is walked: reading a page may meet the next lost one.
  for (uint32_t i = 0; i < repairer_.suspect_count(); ++i) {
    const uint64_t page = repairer_.suspect_page(i);
    const pool::cell c = pool::cell_of(s_.geo, page);
    if (c.row >= s_.geo.rows) continue;  // parity is recomputed, or was not torn
    uncertain u;
    for (auto [offset, left] : written) {
      while (left != 0) {
        const pool::cell at = pool::cell_of(s_.geo, offset);
        const uint64_t n = std::min(left, format::page - at.column % format::page);
        if (at.zone == c.zone && at.column / format::page == c.column / format::page) {
          auto& bits = at.row == c.row ? u.replayed : u.torn;
          for (uint64_t k = 0; k < n; ++k) bits.set(at.column % format::page + k);
        }
        offset += n;
        left -= n;
      }
    }
    if (u.any()) examine(page, u);
  }
}

void suspect_pages::examine(uint64_t page, const uncertain& u) {
  const locked hold(s_.service_mutex);
  medium::writer& w = *s_.service;
  std::vector<std::byte> decoded(format::page);
  pool::decode(s_, page, decoded.data(), format::page);
  const auto lose = [&](const repair::fragment_in_page& f) {
    s_.lost.fetch_add(1, std::memory_order_relaxed);
    s_.events.post(
        {f.object != 0 || !f.fragment.metadata ? SCUTE_EVENT_OBJECT : SCUTE_EVENT_STRUCTURE,
         SCUTE_OUTCOME_LOST, SCUTE_FINDER_OPEN, f.fragment.header,
         format::header_size + f.fragment.room, f.object});
  };
  // Calls fn(offset in the page) for the uncertain bytes of [from, from + n).
  const auto each = [&](uint64_t from, uint64_t n, auto&& fn) {
    for (uint64_t at = std::max(from, page); at < std::min(from + n, page + format::page); ++at)
      if (u[at - page]) fn(at);
  };
  const auto condemn = [&](const repair::fragment_in_page& f) {
    bool any = false;
    constexpr auto pattern = std::byte{0xdb};
    each(f.fragment.payload, f.fragment.room, [&](uint64_t at) {
      any = true;
      w.stream(s_.at(at), &pattern, 1, medium::purpose::data);
    });
    if (any) lose(f);
  };
  repair::for_each_fragment(s_, page, [&](const repair::fragment_in_page& f) {
    const pool::fragment& g = f.fragment;
    if (pool::valid(s_, g)) {
      // SUSPAGE-3
      if (s_.has_checksums || g.metadata || f.object == 0) return;
      condemn(f);
      return;
    }
    format::fragment_header h;
    std::vector<std::byte> payload(g.room);
    std::memcpy(&h, s_.at(g.header), sizeof h);
    std::memcpy(payload.data(), s_.at(g.payload), g.room);
    each(g.header, sizeof h, [&](uint64_t at) {
      reinterpret_cast<std::byte*>(&h)[at - g.header] = decoded[at - page];
    });
    each(g.payload, g.room, [&](uint64_t at) { payload[at - g.payload] = decoded[at - page]; });
    if (!pool::valid(s_, g, h, payload.data())) return lose(f);
    each(g.header, sizeof h, [&](uint64_t at) {
      w.stream(s_.at(at), &decoded[at - page], 1, medium::purpose::metadata);
    });
    if (s_.has_checksums || g.metadata) {
      each(g.payload, g.room, [&](uint64_t at) {
        w.stream(s_.at(at), &decoded[at - page], 1, medium::purpose::data);
      });
      return;
    }
    // SUSPAGE-3: the header was uncertain as well, and vouches for itself alone.
    if (format::meta_role(h.meta) != format::role::free) condemn(f);
  });
}

}  // namespace scute::core::scrub

// SPDX-License-Identifier: BSD-3-Clause
#include "heal/certainty.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/rounding.hpp"
#include "pool/columns.hpp"
#include "pool/commits_under_way.hpp"
#include "pool/optimistic.hpp"

namespace scute::core::heal {
namespace {

using clock = std::chrono::steady_clock;

// First header, header and payload, as parity has them.
constexpr size_t payload_at = size_t{2} * format::header_size;
using image = std::array<std::byte, payload_at + format::fragment_payload>;

void read_image(const pool::state& s, const sighting& g, image& to) noexcept {
  const pool::optimistic_reads mark;
  std::memcpy(to.data(), s.at(g.first), format::header_size);
  std::memcpy(to.data() + format::header_size, s.at(g.f.header), format::header_size);
  std::memcpy(to.data() + payload_at, s.at(g.f.payload), g.f.room);
  if (s.overlaid.touches(g.f.payload, g.f.room))
    s.overlaid.substitute(g.f.payload, to.data() + payload_at, g.f.room);
}

bool sound(const pool::state& s, const sighting& g, const image& i) noexcept {
  format::fragment_header first, h;
  std::memcpy(&first, i.data(), sizeof first);
  std::memcpy(&h, i.data() + sizeof first, sizeof h);
  if (g.f.index != 0) {
    if (pool::covered(s, g.head(), first) == pool::not_covered) return false;
    if (format::meta_role(first.meta) != format::role::live ||
        format::meta_size(first.meta) <= g.f.index * format::fragment_payload)
      return pool::valid(s, g.head());  // nobody vouches for it (SIGHT-2)
  }
  return pool::valid(s, g.f, h, i.data() + payload_at);
}

// Log-free commits hold the columns of all that they write: passing through the locks is waiting for them.
void let_windows_end(pool::state& s, const sighting& g) noexcept {
  const auto pass = [&](uint64_t offset, uint64_t length) {
    for (uint64_t at = round_down(offset, format::page); at < offset + length; at += format::page) {
      const uint32_t stripe = pool::stripe_of(s, std::max(at, offset));
      s.locks.lock_exclusive(stripe);
      s.locks.unlock_exclusive(stripe);
    }
  };
  pass(g.first, format::header_size);
  pass(g.f.header, format::header_size);
  pass(g.f.payload, g.f.room);
}

}  // namespace

certainty examine(pool::state& s, const sighting& g) {
  const auto deadline = clock::now() + pool::patience;
  const size_t n = payload_at + g.f.room;
  image before, after;
  for (read_image(s, g, before);;) {
    if (sound(s, g, before) || !still_there(g)) return certainty::sound;
    if (!pool::let_commits_end(s, nullptr, deadline)) return certainty::busy;
    if (s.parity_is_log) let_windows_end(s, g);
    read_image(s, g, after);
    if (std::memcmp(before.data(), after.data(), n) == 0)
      return still_there(g) ? certainty::damaged : certainty::sound;
    if (clock::now() > deadline) return certainty::busy;
    std::memcpy(before.data(), after.data(), n);
  }
}

}  // namespace scute::core::heal

// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/damage_classifier.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/rounding.hpp"
#include "core/shared/commits_under_way.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::scrub {
namespace {

using clock = std::chrono::steady_clock;

// The fragment, and for a further one the object's first one as well, which may vouch for it.
// In-place ranges have the bytes that parity encodes.
struct fragment_image {
  std::array<std::byte, format::header_size + format::fragment_payload> bytes;

  void read(const pool::state& s, const pool::fragment& f) noexcept {
    std::memcpy(bytes.data(), s.at(f.header), format::header_size);
    std::memcpy(payload(), s.at(f.payload), f.room);
    if (s.overlaid.touches(f.payload, f.room)) s.overlaid.substitute(f.payload, payload(), f.room);
  }
  format::fragment_header header() const noexcept {
    format::fragment_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    return h;
  }
  std::byte* payload() noexcept { return bytes.data() + format::header_size; }
  const std::byte* payload() const noexcept { return bytes.data() + format::header_size; }
};

struct image {
  fragment_image own, head;

  void read(const pool::state& s, const fragment_ref& g) noexcept {
    const pool::optimistic_reads mark;
    own.read(s, g.f);
    if (g.f.index != 0) head.read(s, g.head());
  }
  bool same(const image& other, const fragment_ref& g) const noexcept {
    const auto alike = [](const fragment_image& a, const fragment_image& b, size_t room) {
      return std::memcmp(a.bytes.data(), b.bytes.data(), format::header_size + room) == 0;
    };
    return alike(own, other.own, g.f.room) &&
           (g.f.index == 0 || alike(head, other.head, g.head().room));
  }
};

bool sound(const pool::state& s, const fragment_ref& g, const image& i) noexcept {
  if (g.f.index != 0) {
    const format::fragment_header first = i.head.header();
    if (pool::covered(s, g.head(), first) == pool::not_covered) return false;
    if (format::meta_role(first.meta) != format::role::live ||
        format::meta_size(first.meta) <= g.f.index * format::fragment_payload)
      return pool::valid(s, g.head(), first,
                         i.head.payload());  // it vouches for nothing (FRAGREF-2)
  }
  return pool::valid(s, g.f, i.own.header(), i.own.payload());
}

void let_windows_end(pool::state& s, const fragment_ref& g) noexcept {
  pool::let_windows_end(s, g.first, format::header_size);
  if (g.f.index != 0) pool::let_windows_end(s, g.head().payload, g.head().room);
  pool::let_windows_end(s, g.f.header, format::header_size);
  pool::let_windows_end(s, g.f.payload, g.f.room);
}

}  // namespace

damage_class classify(pool::state& s, const fragment_ref& g) {
  const auto deadline = clock::now() + pool::patience;
  image before, after;
  for (before.read(s, g);;) {
    if (sound(s, g, before) || !still_there(g)) return damage_class::sound;
    if (!pool::let_commits_end(s, nullptr, deadline)) return damage_class::busy;
    if (s.parity_is_log) let_windows_end(s, g);
    after.read(s, g);
    if (after.same(before, g)) return still_there(g) ? damage_class::damaged : damage_class::sound;
    if (clock::now() > deadline) return damage_class::busy;
    before = after;
  }
}

}  // namespace scute::core::scrub

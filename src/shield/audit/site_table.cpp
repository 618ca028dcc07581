// SPDX-License-Identifier: BSD-3-Clause
// Functions that hooks call: general registers only (HOOK-7).
#include "shield/audit/site_table.hpp"

namespace scute::core::audit {

namespace {

constexpr unsigned tries = 64;

// Written here, since the C library's strlen() uses vector registers (HOOK-7).
size_t length_of(const char* text) noexcept {
  size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}

void keep(char* to, size_t room, const char* text, size_t skipped) noexcept {
  for (size_t i = 0; i + 1 < room && text[skipped + i] != 0; ++i) to[i] = text[skipped + i];
}

void keep_end(char* to, size_t room, const char* text) noexcept {
  const size_t n = length_of(text);
  keep(to, room, text, n < room ? 0 : n - (room - 1));
}

}  // namespace

size_t site_table::size() noexcept {
  static_assert(sizeof(place) == 256);
  static_assert(places == 1u << index_bits);
  return places * sizeof(place);
}

site_table::site_table(std::span<std::byte> at) noexcept
    : all_(reinterpret_cast<place*>(at.data())) {}

uint32_t site_table::index_of(const scute_shield_site* site) const noexcept {
  if (site == nullptr) return 0;
  const auto key = reinterpret_cast<uint64_t>(site);
  uint32_t index = static_cast<uint32_t>(key * 0x9e3779b97f4a7c15 >> (64 - index_bits));
  for (unsigned i = 0; i < tries; ++i, ++index) {
    index %= places;
    if (index == 0) continue;
    place& p = all_[index];
    uint64_t seen = p.key.load(std::memory_order_relaxed);
    if (seen == key) return index;
    if (seen != 0) continue;
    if (!p.key.compare_exchange_strong(seen, key)) {
      if (seen == key) return index;
      continue;
    }
    keep_end(p.file, sizeof p.file, scute_shield_site_file(site));
    keep(p.function, sizeof p.function, scute_shield_site_function(site), 0);
    p.line = site->line;
    p.column = site->column;
    p.named.store(1, std::memory_order_release);
    return index;
  }
  return 0;
}

void site_table::count(uint32_t index, site_event what, uint64_t n) const noexcept {
  all_[index % places].counts[static_cast<size_t>(what)].fetch_add(n, std::memory_order_relaxed);
}

bool site_table::read_names(uint32_t index, site_names& to) const noexcept {
  const place& p = all_[index % places];
  to = {};
  if (index % places == 0 || p.named.load(std::memory_order_acquire) == 0) return false;
  keep(to.file, sizeof to.file, p.file, 0);
  keep(to.function, sizeof to.function, p.function, 0);
  to.line = p.line;
  return true;
}

}  // namespace scute::core::audit

// SPDX-License-Identifier: BSD-3-Clause
#include "audit/site_table.hpp"

#include <algorithm>
#include <cstring>

namespace scute::core::audit {

struct site_table::place {
  std::atomic<uint64_t> key;
  std::atomic<uint32_t> named;
  uint32_t line, column, unused;
  std::atomic<uint64_t> counts[site_events];
  char file[104], function[72];
};

namespace {

constexpr unsigned tries = 64;

void keep_end(char* to, size_t room, const char* text) noexcept {
  const size_t n = std::strlen(text), skipped = n < room ? 0 : n - (room - 1);
  std::memcpy(to, text + skipped, n - skipped);
}

void keep_front(char* to, size_t room, const char* text) noexcept {
  std::memcpy(to, text, std::min(std::strlen(text), room - 1));
}

// AUDIT-2
std::string text_of(const char* at, size_t room) {
  return {at, static_cast<size_t>(std::find(at, at + room, '\0') - at)};
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
    keep_front(p.function, sizeof p.function, scute_shield_site_function(site));
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

bool site_table::read(uint32_t index, site_record& to) const {
  const place& p = all_[index % places];
  to = {};
  bool any = false;
  for (size_t i = 0; i < site_events; ++i) {
    to.counts[i] = p.counts[i].load(std::memory_order_relaxed);
    any = any || to.counts[i] != 0;
  }
  if (p.named.load(std::memory_order_acquire) == 0) return any;
  to.file = text_of(p.file, sizeof p.file);
  to.function = text_of(p.function, sizeof p.function);
  to.line = p.line;
  to.column = p.column;
  return true;
}

}  // namespace scute::core::audit

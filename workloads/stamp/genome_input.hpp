// SPDX-License-Identifier: BSD-3-Clause
// A random gene and segments of it, many of them the same, in any order. They cover the gene: two
// that follow each other have at least half a segment in common, so that the gene can be put
// together in one way only (unless the gene repeats itself for so long, which gets likely beyond
// 4^(length / 4) letters).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::stamp {

struct genome_setup {
  uint32_t gene_length;
  uint32_t segment_length;  // at most 64
  uint64_t segments;        // at least; a few more may be needed to cover the gene
  uint64_t seed = 1;
};

struct genome_input {
  // Two bits a letter, the first letter lowest.
  using letters = std::array<uint64_t, 2>;

  genome_setup how;
  std::string gene;
  std::vector<letters> segments;

  explicit genome_input(const genome_setup& h) : how(h) {
    dice random(how.seed);
    for (uint32_t i = 0; i < how.gene_length; ++i) gene += "acgt"[random.below(4)];
    const uint32_t places = how.gene_length - how.segment_length + 1;
    std::vector<bool> used(places);
    std::vector<uint32_t> starts;
    const auto add = [&](uint32_t at) {
      used[at] = true;
      starts.push_back(at);
    };
    add(0);
    add(places - 1);
    while (starts.size() < how.segments) add(static_cast<uint32_t>(random.below(places)));
    for (uint32_t at = 0, last = 0; at < places; ++at) {
      if (!used[at] && at - last == how.segment_length / 2) add(at);
      if (used[at]) last = at;
    }
    random.shuffle(starts);
    for (const uint32_t at : starts)
      segments.push_back(packed(std::string_view(gene).substr(at, how.segment_length)));
  }

  static letters packed(std::string_view text) {
    letters l{};
    for (size_t i = 0; i < text.size(); ++i)
      l[i / 32] |= std::string_view("acgt").find(text[i]) << i % 32 * 2;
    return l;
  }
  static char letter(const letters& l, uint32_t i) { return "acgt"[l[i / 32] >> i % 32 * 2 & 3]; }

  // The first n letters, or those from n on.
  static letters first(const letters& l, uint32_t n) {
    if (n >= 64) return l;
    if (n > 32) return {l[0], l[1] & low(n - 32)};
    return {l[0] & low(n), 0};
  }
  static letters from(const letters& l, uint32_t n) {
    if (n == 0) return l;
    if (n >= 64) return {};
    if (n >= 32) return {l[1] >> (n - 32) * 2, 0};
    return {l[0] >> n * 2 | l[1] << (64 - n * 2), l[1] >> n * 2};
  }
  static uint64_t hash(const letters& l) { return key_hash(l[0] ^ key_hash(l[1])); }

 private:
  static uint64_t low(uint32_t n) { return n >= 32 ? ~uint64_t{0} : (uint64_t{1} << n * 2) - 1; }
};

}  // namespace scute::workloads::stamp

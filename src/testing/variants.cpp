// SPDX-License-Identifier: BSD-3-Clause
#include "testing/variants.hpp"

#include <numeric>
#include <random>

namespace scute::testing {
namespace {

constexpr uint64_t exhaustive_max = 256;

}  // namespace

uint64_t mix(uint64_t a, uint64_t b) noexcept {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

variants::variants(const persistence_model& m, const std::vector<atom>& atoms, uint64_t seed)
    : model_(m), atoms_(atoms), seed_(seed) {
  for (uint32_t i = 0; i < atoms.size(); ++i) {
    if (stores_.empty() || stores_.back() != atoms[i].store) stores_.push_back(atoms[i].store);
    if (atoms[i].line != 0) {
      bool joined = false;
      for (group& g : groups_)
        if (atoms[g.atoms.front()].line == atoms[i].line) {
          g.atoms.push_back(i);
          joined = true;
          break;
        }
      if (joined) continue;
    }
    groups_.push_back({{i}});
  }
  exhaustive_ = 1;
  for (const group& g : groups_) {
    exhaustive_ *= g.atoms.size() + 1;
    if (exhaustive_ > exhaustive_max) {
      exhaustive_ = 0;
      break;
    }
  }
}

persistence_model::choice variants::make(uint64_t variant) const {
  persistence_model::choice c(atoms_.size(), false);
  if (exhaustive_ != 0) {
    // Mixed radix: how many atoms of each group, from its oldest on, are durable.
    for (const group& g : groups_) {
      const uint64_t n = variant % (g.atoms.size() + 1);
      variant /= g.atoms.size() + 1;
      for (uint64_t k = 0; k < n; ++k) c[g.atoms[k]] = true;
    }
    return c;
  }
  if (variant == 0) return c;
  if (variant == 1) return persistence_model::choice(atoms_.size(), true);
  // Store by store first, then atom by atom, mixed with random subsets.
  variant -= 2;
  const uint64_t by_store = 4 * stores_.size();
  const uint64_t by_atom = 2 * atoms_.size();
  if (variant < by_store) {
    // A seeded walk through all of them: the step has no factor in common with their number.
    uint64_t step = mix(seed_, 1) % by_store | 1;
    while (std::gcd(step, by_store) != 1) step += 2;
    return structured((mix(seed_, 2) + variant * step) % by_store);
  }
  variant -= by_store;
  if (variant < 2 * by_atom) {
    if (variant % 2 != 0) return random(variant);
    return structured(by_store + mix(seed_, variant) % by_atom);
  }
  return random(variant);
}

persistence_model::choice variants::structured(uint64_t which) const {
  persistence_model::choice c(atoms_.size(), false);
  const uint64_t by_store = 4 * stores_.size();
  if (which < by_store) {
    const uint32_t store = stores_[which / 4];
    for (size_t i = 0; i < atoms_.size(); ++i) {
      const uint32_t s = atoms_[i].store;
      switch (which % 4) {
        case 0: c[i] = s == store; break;
        case 1: c[i] = s != store; break;
        case 2: c[i] = s <= store; break;
        default: c[i] = s >= store; break;
      }
    }
    if (which % 4 == 1)
      model_.close_down(c);
    else
      model_.close_up(c);
    return c;
  }
  which -= by_store;
  const size_t one = which / 2;
  if (which % 2 == 0) {
    c[one] = true;
    model_.close_up(c);
  } else {
    c.assign(atoms_.size(), true);
    c[one] = false;
    model_.close_down(c);
  }
  return c;
}

persistence_model::choice variants::random(uint64_t which) const {
  std::mt19937_64 random(mix(seed_, which ^ 0x72616e64));
  persistence_model::choice c(atoms_.size(), false);
  // By atoms, by stores, or by 64-byte lines, each with its own density.
  const unsigned density = 1 + static_cast<unsigned>(random() % 15);
  const unsigned by = static_cast<unsigned>(random() % 3);
  uint64_t key = UINT64_MAX;
  bool durable = false;
  for (size_t i = 0; i < atoms_.size(); ++i) {
    const uint64_t now = by == 0 ? i : by == 1 ? atoms_[i].store : atoms_[i].offset / 64;
    if (now != key) durable = random() % 16 < density;
    key = now;
    c[i] = durable;
  }
  model_.close_down(c);
  return c;
}

}  // namespace scute::testing

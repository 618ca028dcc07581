// SPDX-License-Identifier: BSD-3-Clause
#include "testing/variants.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace scute::testing {
namespace {

constexpr uint64_t few_max = 256;  // allowed subsets that are tried one after the other
// allowed subsets that are all tried, but in a shuffled order
constexpr uint64_t many_max = 128 * 1024;
constexpr size_t stores_many = 256;  // with more, every second subset is random

// A seeded walk through all of [0, n): the step has no factor in common with n.
uint64_t nth_of_walk(uint64_t i, uint64_t n, uint64_t seed) noexcept {
  uint64_t step = mix(seed, 1) % n | 1;
  while (std::gcd(step, n) != 1) step += 2;
  return (mix(seed, 2) % n + i * step) % n;
}

}  // namespace

uint64_t mix(uint64_t a, uint64_t b) noexcept {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

variants::variants(const model::persistence_model& m, const std::vector<atom>& atoms, uint64_t seed)
    : model_(m), atoms_(atoms), seed_(seed) {
  for (uint32_t i = 0; i < atoms.size(); ++i) {
    const bool new_store = stores_.empty() || stores_.back() != atoms[i].store;
    if (new_store) stores_.push_back(atoms[i].store);
    const auto of_line = std::find_if(groups_.begin(), groups_.end(), [&](const group& g) {
      return g.line != 0 && g.line == atoms[i].line;
    });
    if (of_line == groups_.end())
      groups_.push_back({atoms[i].line, {{i}}});
    else if (new_store)
      of_line->stores.push_back({i});
    else
      of_line->stores.back().push_back(i);
  }
  allowed_ = 1;
  for (const group& g : groups_) {
    allowed_ *= subsets(g);
    if (allowed_ > many_max) {
      allowed_ = 0;
      break;
    }
  }
}

// The subsets of a group: nothing; or everything older than one store, and a part of that store.
// Exact up to many_max.
uint64_t variants::subsets(const group& g) noexcept {
  uint64_t n = 1;
  for (const auto& store : g.stores)
    n += store.size() > 17 ? many_max : (uint64_t{1} << store.size()) - 1;
  return n;
}

// Mixed radix: one digit per group.
model::persistence_model::choice variants::nth(uint64_t n) const {
  model::persistence_model::choice c(atoms_.size(), false);
  for (const group& g : groups_) {
    uint64_t left = n % subsets(g);
    n /= subsets(g);
    for (const auto& store : g.stores) {
      const uint64_t here = std::min(left, (uint64_t{1} << store.size()) - 1);
      for (size_t k = 0; k < store.size(); ++k) c[store[k]] = (here >> k & 1) != 0;
      left -= here;
      if (left == 0) break;
    }
  }
  return c;
}

uint64_t variants::count() const noexcept {
  if (allowed_ == 0) return UINT64_MAX;
  if (allowed_ <= few_max) return allowed_;
  return 2 + 4 * stores_.size() + 4 * atoms_.size() + allowed_;
}

model::persistence_model::choice variants::make(uint64_t variant) const {
  if (allowed_ != 0 && allowed_ <= few_max) return nth(variant);
  if (variant < 2) return model::persistence_model::choice(atoms_.size(), variant == 1);
  // Store by store first, then atom by atom, mixed with random subsets.
  variant -= 2;
  const uint64_t by_store = 4 * stores_.size();
  const uint64_t by_atom = 2 * atoms_.size();
  // No budget gets through all of so many stores, and few of them may matter.
  if (allowed_ == 0 && stores_.size() > stores_many) {
    if (variant % 2 != 0 || variant >= 2 * by_store) return random(variant);
    return structured(nth_of_walk(variant / 2, by_store, seed_));
  }
  if (variant < by_store) return structured(nth_of_walk(variant, by_store, seed_));
  variant -= by_store;
  if (variant < 2 * by_atom && variant % 2 == 0)
    return structured(by_store + nth_of_walk(variant / 2, by_atom, seed_));
  if (variant < 2 * by_atom || allowed_ == 0) return random(variant);
  return nth(nth_of_walk(variant - 2 * by_atom, allowed_, seed_));
}

model::persistence_model::choice variants::structured(uint64_t which) const {
  model::persistence_model::choice c(atoms_.size(), false);
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

model::persistence_model::choice variants::random(uint64_t which) const {
  std::mt19937_64 random(mix(seed_, which ^ 0x72616e64));
  model::persistence_model::choice c(atoms_.size(), false);
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

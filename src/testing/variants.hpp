// SPDX-License-Identifier: BSD-3-Clause
// The subsets of the pending stores that are worth a crash, in an order that finds most errors
// soonest. A variant is a number; the same number means the same subset whenever the same atoms are
// pending.
//
//   few atoms   all subsets that the model allows, one after the other
//   many        nothing; everything; then, in a seeded order, a mixture of
//                 one store alone, one store missing, all up to a store, all from a store on
//                 (newest first);
//               then one atom alone, one atom missing, mixed with
//                 random subsets of various densities;
//               then all subsets in a shuffled order, if that is possible at all
//   too many    as for many, but random subsets without end instead of all subsets; if there are
//               very many stores, these come from the start, by turns with the mixture
#pragma once

#include <cstdint>
#include <vector>

#include "model/persistence_model.hpp"

namespace scute::testing {

class variants {
 public:
  using atom = model::persistence_model::atom;

  // The atoms must stay as they are while this is used.
  variants(const model::persistence_model& m, const std::vector<atom>& atoms, uint64_t seed);

  // The number of variants; UINT64_MAX if random ones follow without end.
  uint64_t count() const noexcept;
  model::persistence_model::choice make(uint64_t variant) const;

 private:
  // The stores of one line in order, each with its atoms. Or one store of a single atom.
  struct group {
    uint32_t line;
    std::vector<std::vector<uint32_t>> stores;
  };
  static uint64_t subsets(const group& g) noexcept;
  model::persistence_model::choice nth(uint64_t n) const;
  model::persistence_model::choice structured(uint64_t which) const;
  model::persistence_model::choice random(uint64_t which) const;

  const model::persistence_model& model_;
  const std::vector<atom>& atoms_;
  uint64_t seed_;
  uint64_t allowed_ = 0;  // number of subsets that the model allows; 0: too many
  std::vector<group> groups_;
  std::vector<uint32_t> stores_;  // numbers that occur
};

// A well-mixed number from two others.
uint64_t mix(uint64_t a, uint64_t b) noexcept;

}  // namespace scute::testing

// SPDX-License-Identifier: BSD-3-Clause
// cast.hpp: all writers of a run: one for each thread, and one that the threads share under a lock
// (its transactions are numbered across them).
#pragma once

#include "actor.hpp"
#include "settings.hpp"

#include <memory>
#include <vector>

namespace scute_torture {

class cast {
 public:
  explicit cast(const settings& how);

  size_t size() const { return actors_.size(); }
  actor& operator[](size_t i) const { return *actors_[i]; }
  size_t own(unsigned thread) const { return thread; }
  size_t shared() const { return actors_.size() - 1; }

  // Makes the root objects in a new pool.
  void prepare(const scute::pool& pool) const;
  // Reports to the writers where their roots are.
  void find_roots(const scute::pool& pool) const;
  // Everything but the roots goes. Throws violation if an unknown object is left.
  void clear(const scute::pool& pool) const;

 private:
  std::vector<std::unique_ptr<actor>> actors_;
};

}  // namespace scute_torture

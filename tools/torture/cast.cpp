// SPDX-License-Identifier: BSD-3-Clause
#include "cast.hpp"

#include <fmt/format.h>

namespace scute_torture {

namespace {

struct program {  // the pool's root
  scute_oid roots[actors_max];
};

std::unique_ptr<actor> make(const std::string& workload, uint64_t seed, unsigned index) {
  if (workload == "objects") return make_objects_actor(seed, index);
  if (workload == "containers") return make_containers_actor(seed, index);
  if (workload == "churn") return make_churn_actor(seed, index);
  return index % 3 == 0   ? make_objects_actor(seed, index)
         : index % 3 == 1 ? make_containers_actor(seed, index)
                          : make_churn_actor(seed, index);
}

}  // namespace

cast::cast(const settings& how) {
  const auto meeting = std::make_shared<scute_oid>();
  for (unsigned i = 0; i < how.threads; ++i)
    actors_.push_back(how.workload == "crowd" ? make_crowd_actor(how.seed, i, meeting)
                                              : make(how.workload, how.seed, i));
  actors_.push_back(make_containers_actor(how.seed, how.threads));
}

void cast::prepare(const scute::pool& pool) const {
  const auto root = pool.root<program>();
  pool.transact([&](scute::tx& tx) {
    for (size_t i = 0; i < size(); ++i)
      tx.edit(root, &program::roots, i) = actors_[i]->make_root(tx);
  });
}

void cast::find_roots(const scute::pool& pool) const {
  const program& p = pool.get_verified(pool.root<program>());
  for (size_t i = 0; i < size(); ++i) actors_[i]->set_root(p.roots[i]);
}

void cast::clear(const scute::pool& pool) const {
  for (const auto& a : actors_) a->clear(pool);
  const auto root = pool.root<program>();
  const program& p = pool.get(root);
  for (const auto object : pool.objects()) {
    bool known = object.oid() == root.oid();
    for (size_t i = 0; i < size(); ++i) known |= object.oid() == p.roots[i];
    if (!known)
      throw violation(fmt::format(
          "everything was freed, and object {:#x} of type {:#x} is still there: it has no owner.",
          object.oid(), pool.type_of(object)));
  }
}

}  // namespace scute_torture

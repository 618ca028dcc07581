// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/spec_scene.hpp"

namespace scute::explore {

scute_options spec_options(const level& l, uint32_t lanes, uint64_t cap) {
  scute_options o = testing::small_pool(l.protection);
  if (lanes != 0) o.lanes = lanes;
  o.log_cap = cap;
  return o;
}

void make_spec_objects(scute::pool& p) {
  make_directories(p);
  for (unsigned t = 0; t < 2; ++t)
    commit(p, t, [](change& c) {
      for (uint64_t i = 0; i < 3; ++i) c.alloc(i, spec_sizes[i], static_cast<unsigned>(i) + 1);
    });
}

testing::scenario spec_scene(const std::string& name, const scute_options& o) {
  testing::scenario s(name, o);
  s.setup(make_spec_objects);
  return s;
}

testing::scenario spec_scene(const std::string& name, const level& l, uint32_t lanes,
                             uint64_t cap) {
  return spec_scene(name + "/" + l.name, spec_options(l, lanes, cap));
}

void checkpoint(testing::scenario& s) {
  s.step("checkpoint", [](scute::pool& p) { p.drain(); });
}

}  // namespace scute::explore

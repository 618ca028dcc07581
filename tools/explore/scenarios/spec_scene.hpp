// SPDX-License-Identifier: BSD-3-Clause
// The beginning of scenarios of engine spec: two directories with an object of each size, in a pool
// whose log is as small as can be.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {

inline constexpr uint64_t spec_sizes[] = {64, 450, 3000};

// lanes: 0 for as many as the pool has by itself. cap: of the log, bytes.
scute_options spec_options(const level& l, uint32_t lanes = 0, uint64_t cap = 4096);
// A scenario of that pool, which has its objects when the first step begins.
testing::scenario spec_scene(const std::string& name, const scute_options& o);
testing::scenario spec_scene(const std::string& name, const level& l, uint32_t lanes = 0,
                             uint64_t cap = 4096);
// The objects alone.
void make_spec_objects(scute::pool& p);
// A step in which all is checkpointed.
void checkpoint(testing::scenario& s);

}  // namespace scute::explore

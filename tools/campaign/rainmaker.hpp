// SPDX-License-Identifier: BSD-3-Clause
// rainmaker.hpp: the thread that injects faults, in showers,
// and has the pool repaired between them.
#pragma once

#include "dice.hpp"
#include "live_state.hpp"

#include <set>
#include <utility>

namespace scute_campaign {

using namespace scute_tools;

class rainmaker {
 public:
  explicit rainmaker(live_state& state);

  void run();
  // After the last shower, with no transaction under way: until nothing more can be repaired.
  void repair_all();

 private:
  void shower();
  // Whether a fault of that kind at [offset, offset + length) can be repaired by itself; notes it
  // if so.
  bool place(scute_injury kind, uint64_t offset, uint64_t length);
  void strike(const scute_injection& what);
  void repair(bool while_working);

  live_state& s_;
  dice random_;
  scute_info info_{};
  std::set<std::pair<uint64_t, uint64_t>> open_;  // zone, column block; or the region of replicas
};

}  // namespace scute_campaign

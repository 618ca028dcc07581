// SPDX-License-Identifier: BSD-3-Clause
// worker.hpp: a thread that allocates, overwrites, edits,
// frees and reads objects of its own, and knows what each of them holds.
#pragma once

#include "dice.hpp"
#include "live_state.hpp"

#include <vector>

namespace scute_campaign {

using namespace scute_tools;

class worker {
 public:
  worker(live_state& state, unsigned number);

  // Until the state says stop.
  void run();
  // Compares every object. Alone, or concurrently with its peers; without faults.
  void compare_all();

 private:
  struct item {
    scute_oid oid;
    std::vector<std::byte> bytes;
    std::vector<std::byte> before = {};  // its version before
  };

  void transact();
  std::shared_lock<gate> while_writing();
  void read_one();
  // True if the object reads as it should; else it has been dealt with, and is given up.
  bool compare(item& i);
  // A call failed: in the wild a loss is reported so. Returns false after noting a promise broken.
  bool excused(int code, const char* what);
  void give_up(size_t index);

  live_state& s_;
  dice random_;
  std::vector<item> items_;
  uint64_t transactions_ = 0, reads_ = 0, bytes_ = 0, refused_ = 0, unchecked_ = 0, silent_ = 0;
};

}  // namespace scute_campaign

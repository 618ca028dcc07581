// SPDX-License-Identifier: BSD-3-Clause
#include "scute/exploration.hpp"

#include "base/locks/waiting.hpp"

namespace scute::testing {
using namespace core;

struct mutex::state {
  waiting_mutex lock;
};

mutex::mutex() : state_(std::make_unique<state>()) {}
mutex::~mutex() = default;

// No lock analysis: the public header has no annotations.
void mutex::lock() SCUTE_NO_LOCK_ANALYSIS {
  state_->lock.lock();
}
bool mutex::try_lock() SCUTE_NO_LOCK_ANALYSIS {
  return state_->lock.try_lock();
}
void mutex::unlock() SCUTE_NO_LOCK_ANALYSIS {
  state_->lock.unlock();
}

void give_way() {
  core::give_way();
}

}  // namespace scute::testing

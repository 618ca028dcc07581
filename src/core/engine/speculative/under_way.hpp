// SPDX-License-Identifier: BSD-3-Clause
// Announces a commit of engine `spec` to checkpoints while it is under way.
#pragma once

#include "core/engine/speculative/speculative.hpp"

namespace scute::core::engine {

// Published before the LSNs are read, until all records of the LSN are applied (SPEC-3).
class speculative::flight {
 public:
  flight(checkpoint& f, uint32_t lane, uint64_t active_lsn) noexcept : checkpoint_(f), lane_(lane) {
    checkpoint_.enter(lane_, active_lsn);
  }
  ~flight() { checkpoint_.leave(lane_); }
  flight(const flight&) = delete;
  flight& operator=(const flight&) = delete;

 private:
  checkpoint& checkpoint_;
  uint32_t lane_;
};

// Pins blocks with ranges open in place, under their stripes. So no checkpoint is at one of them
// (SPEC-6).
class speculative::pins {
 public:
  pins(speculative& e, lane_state& mine) noexcept : e_(e), mine_(mine) {
    for (const uint64_t b : mine_.pinned) change(b, 1);
  }
  ~pins() {
    for (const uint64_t b : mine_.pinned) change(b, -1);
    mine_.pinned.clear();
  }
  pins(const pins&) = delete;
  pins& operator=(const pins&) = delete;

 private:
  void change(uint64_t b, int by) noexcept {
    const pool::held_stripe held(e_.s_.locks, e_.table_->stripe_of(b));
    e_.table_->at(b).pins.fetch_add(static_cast<uint32_t>(by), std::memory_order_relaxed);
  }
  speculative& e_;
  lane_state& mine_;
};

}  // namespace scute::core::engine

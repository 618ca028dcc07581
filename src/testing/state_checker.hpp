// SPDX-License-Identifier: BSD-3-Clause
// Lets the subject recover one crash image, and decides whether the result is allowed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/persistence_model.hpp"
#include "model/simulated_memory.hpp"
#include "testing/scenario_state.hpp"

namespace scute::testing {

// The valid states after a failure at some moment: for each thread the texts that its observer may
// read.
struct expectation {
  std::vector<std::vector<const std::string*>> allowed;
  bool absent = false;   // there may be no subject yet
  bool damaged = false;  // the scenario has damaged it: check may find and repair damage
};

// A fault in addition to a crash; the number determines all of it.
struct fault {
  enum class kind : uint8_t { none, before_recovery, after_recovery } what = kind::none;
  uint64_t number = 0;
};

// A further crash, during recovery: before its fence number `fence` (or after the last one, if
// there are fewer), leaving subset `variant` of the pending stores.
struct recrash {
  uint64_t fence = 0, variant = 0;
};

// The state that a failure leaves, and the fault after it.
struct crash_state {
  model::persistence_model::choice durable;
  // The process dies instead, and the machine does not: its successor sees every store (all are
  // chosen in `durable`), and stores that were not durable still are not. Then the power fails in
  // the first of `again`.
  bool killed = false;
  fault damage;
  std::vector<recrash> again;
  uint64_t seed = 0;  // for the choice of what recoveries lose
};

struct check_result {
  bool sound = true;
  std::string wrong;             // the fault
  std::vector<std::string> log;  // the changes to the image and the report of recovery
};

class state_checker {
 public:
  // The subject must be closed, and is closed after each state.
  state_checker(const detail::scenario_state& s, subject& what, bool eadr);
  ~state_checker();

  // The image that later crash states differ from.
  void base(std::span<const std::byte> durable);

  // Verifies one state: base with some bytes changed. If recoveries crash, one after the other,
  // each image on the way is verified as well as the last. `states` counts the verified images.
  check_result run(const model::persistence_model& m, const crash_state& c, const expectation& e,
                   uint64_t& states);

  // Every image is also read again after its probe, closed and reopened, and searched for stores
  // that bypassed the medium. Otherwise only some images are.
  bool thorough = false;

 private:
  class snapshot;
  bool recover(check_result& v, const expectation& e, const fault& f, snapshot* again);
  void observe(const expectation& e, const std::string& when);
  void check(const expectation& e, bool injured);
  void probe();
  void inflict(const injury& i);

  const detail::scenario_state& scenario_;
  subject& subject_;
  const std::string noun_;  // of the subject
  model::simulated_memory memory_;
  std::span<const std::byte> base_;
  model::persistence_model spare_;  // of snapshots; here so that its memory is kept
  model::persistence_model::image spare_image_;
  uint64_t count_ = 0;
};

}  // namespace scute::testing

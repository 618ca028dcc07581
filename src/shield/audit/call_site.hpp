// SPDX-License-Identifier: BSD-3-Clause
// Where in the program's source the calling thread is. Hooks of instrumented code set it while they
// run (scute/shield_hooks.h), so that events in a view are counted for that place.
#pragma once

#include "scute/shield_hooks.h"

namespace scute::core::audit {

// Sets the place while an object lives. A handler's place hides that of the code it interrupts.
// Async-signal-safe.
class call_site {
 public:
  explicit call_site(const scute_shield_site* here) noexcept;
  ~call_site();
  call_site(const call_site&) = delete;
  call_site& operator=(const call_site&) = delete;

  // Null: code that is not instrumented.
  static const scute_shield_site* current() noexcept;

 private:
  const scute_shield_site* before_;
};

}  // namespace scute::core::audit

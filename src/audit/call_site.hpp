// SPDX-License-Identifier: BSD-3-Clause
// Where in the program's source the calling thread is: set by the hooks of instrumented code while
// they work (scute/shield_hooks.h), so that what a view notices meanwhile can be counted for that
// place.
#pragma once

#include "scute/shield_hooks.h"

namespace scute::core::audit {

// While one lives. A handler's stands before that of the code it interrupts. Async-signal-safe.
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

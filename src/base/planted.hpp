// SPDX-License-Identifier: BSD-3-Clause
// Planted bugs: in a build with SCUTE_PLANTED_BUGS a test can switch off one fence, one ordering
// rule, one replica or one check of the protocols, and see whether the instruments of proof notice.
// In every other build SCUTE_PLANTED(name) is the constant false and leaves no trace.
//
//   if (!SCUTE_PLANTED(decide_fence)) l.w.fence();
//
// The list of bugs, with what each one breaks, is planted_bugs.inc.
#pragma once

#ifdef SCUTE_PLANTED_BUGS

#include <cstddef>

namespace scute::core::planted {

enum class bug {
  none,
#define SCUTE_BUG(name, text) name,
#include "base/planted_bugs.inc"
#undef SCUTE_BUG
};

struct description {
  bug which;
  const char* name;
  const char* text;
};
inline constexpr description all[] = {
#define SCUTE_BUG(name, text) {bug::name, #name, text},
#include "base/planted_bugs.inc"
#undef SCUTE_BUG
};

// One at a time; set while no pool is in use.
inline bug active = bug::none;

}  // namespace scute::core::planted

#define SCUTE_PLANTED(name) (::scute::core::planted::active == ::scute::core::planted::bug::name)

#else

#define SCUTE_PLANTED(name) false

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Planted bugs: a test can switch off one fence, one ordering rule, one replica or one check of the
// protocols, and see whether the tests notice. The switches are in copies of sources that only
// tests link (tools/plant, sites/), so that the sources have none.
//
//   if (!SCUTE_PLANTED(invalidate_flush)) l.w.flush(line, sizeof *line, medium::purpose::log);
//
// Fences are left out by their names, in the one function that makes all of them:
// medium::writer::fence() of the copy asks SCUTE_LEFT_OUT(site). planted_bugs.inc lists the bugs,
// with the effect of each one; base/fence_sites.inc lists the fences.
#pragma once

#include "base/fence_site.hpp"

namespace scute::core::planted {

enum class bug {
  none,
#define SCUTE_BUG(name, text) name,
#include "planted/planted_bugs.inc"
#undef SCUTE_BUG
#define SCUTE_FENCE(site, text) site##_fence,
#define SCUTE_FENCE_KEPT(site, text)
#include "base/fence_sites.inc"
#undef SCUTE_FENCE
};

struct description {
  bug which;
  const char* name;
  const char* text;
};
inline constexpr description all[] = {
#define SCUTE_BUG(name, text) {bug::name, #name, text},
#include "planted/planted_bugs.inc"
#undef SCUTE_BUG
#define SCUTE_FENCE(site, text) {bug::site##_fence, #site "_fence", text},
#include "base/fence_sites.inc"
#undef SCUTE_FENCE
#undef SCUTE_FENCE_KEPT
};
// Indexed by fence_site; `none` where no bug is planted.
inline constexpr bug bug_of_fence[] = {
#define SCUTE_FENCE(site, text) bug::site##_fence,
#define SCUTE_FENCE_KEPT(site, text) bug::none,
#include "base/fence_sites.inc"
#undef SCUTE_FENCE
#undef SCUTE_FENCE_KEPT
    bug::none};

// One bug at a time; set while no pool is in use.
inline bug active = bug::none;

inline bool leaves_out(fence_site at) noexcept {
  return active != bug::none && bug_of_fence[static_cast<unsigned>(at)] == active;
}

}  // namespace scute::core::planted

#define SCUTE_PLANTED(name) (::scute::core::planted::active == ::scute::core::planted::bug::name)
#define SCUTE_LEFT_OUT(site) (::scute::core::planted::leaves_out(site))

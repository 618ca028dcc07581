// SPDX-License-Identifier: BSD-3-Clause
// Every fence of the library has a name, so that it can be referred to, counted, and left out by a
// planted bug (tests/planted). The list, with the consequence of leaving out each fence, is
// fence_sites.inc.
//
//   l.w.fence(fence_site::NAME);
#pragma once

#include <cstdint>

namespace scute::core {

enum class fence_site : uint8_t {
#define SCUTE_FENCE(site, text) site,
#define SCUTE_FENCE_KEPT(site, text) site,
#include "base/fence_sites.inc"
#undef SCUTE_FENCE
#undef SCUTE_FENCE_KEPT
  test,  // for tests
};

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/calls/next_calls.hpp"

#include "shield/interpose/libraries/real_lookup.hpp"

namespace scute::core::interpose::next {

void look_up_early() noexcept {
  real_lookup::find_early();
#define SCUTE_NEXT(name, ...) name.get();
#define SCUTE_NEXT_OF(name, ...) name.get();
#include "shield/interpose/calls/next_calls.inc"
#undef SCUTE_NEXT
#undef SCUTE_NEXT_OF
}

}  // namespace scute::core::interpose::next

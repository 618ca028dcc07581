// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/libraries/stand_in.hpp"

#include "shield/interpose/calls/plain_text.hpp"

// The linker's names for the section's begin and end.
extern "C" {
[[gnu::visibility("hidden")]] extern const scute::core::interpose::stand_in
    scute_first_stand_in[] __asm__("__start_scute_stand_ins");
[[gnu::visibility("hidden")]] extern const scute::core::interpose::stand_in
    scute_behind_stand_ins[] __asm__("__stop_scute_stand_ins");
}

namespace scute::core::interpose {

const stand_in* find_stand_in(const char* name) noexcept {
  for (const stand_in* s = scute_first_stand_in; s != scute_behind_stand_ins; ++s)
    if (is_same_text(s->name, name)) return s;
  return nullptr;
}

}  // namespace scute::core::interpose

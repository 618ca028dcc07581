// SPDX-License-Identifier: BSD-3-Clause
// What code the process has loaded, and what scute-cc has left in it (scute/shield_hooks.h, "the
// mark").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scute/shield_hooks.h"

namespace scute::core::interpose {

struct loaded_object {
  uintptr_t base = 0;
  std::string path;
  std::vector<std::span<const uint8_t>> code;
  const scute_shield_note_image* image = nullptr;  // null: no part of it reports anything
  bool compiled = false;                           // a part of it at least, by scute-cc
  uint32_t options =
      0;  // scute_shield_option: what all of its instrumented parts were compiled with
};

// All but those of SCAN-1 (flush_scan.hpp). In a critical section.
std::vector<loaded_object> loaded_objects();

// A library of the language, which is never instrumented: the mathematical one, the one that
// unwinds, the one of C++.
bool comes_with_language(std::string_view path) noexcept;

// A path's last part.
std::string_view name_of(std::string_view path) noexcept;

// The objects that report stores (-fscute=detect). In a critical section.
struct store_reporters {
  bool any = false;
  // names of the objects that do not, each once, commas between; parts of other compilers in one
  // that does cannot be seen
  std::string unreported;
};
store_reporters find_store_reporters();

}  // namespace scute::core::interpose

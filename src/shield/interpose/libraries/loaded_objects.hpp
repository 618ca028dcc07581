// SPDX-License-Identifier: BSD-3-Clause
// The code that the process has loaded, and the marks that scute-cc has left in it
// (scute/shield_hooks.h, "the mark").
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

// All objects except those of SCAN-1 (flush_scan.hpp). In a critical section.
std::vector<loaded_object> loaded_objects();

// Whether it is a library of the language, which is never instrumented: that of mathematics, the
// unwinder, that of C++.
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

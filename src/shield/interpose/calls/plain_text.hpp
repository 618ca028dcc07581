// SPDX-License-Identifier: BSD-3-Clause
// Compares text without the C library: a program may interpose strcmp() and the like by functions
// that do not work yet (REALLOOK-2).
#pragma once

namespace scute::core::interpose {

constexpr bool begins_with(const char* text, const char* beginning) noexcept {
  while (*beginning != 0)
    if (*text++ != *beginning++) return false;
  return true;
}

constexpr bool is_same_text(const char* a, const char* b) noexcept {
  for (; *a == *b; ++a, ++b)
    if (*a == 0) return true;
  return false;
}

}  // namespace scute::core::interpose

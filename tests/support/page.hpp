// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace scute::test {

// What the tests take a page to be, in bytes, written out so that a wrong constant of the library
// is noticed.
inline constexpr uint64_t page = 4096;

}  // namespace scute::test

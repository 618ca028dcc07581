// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace scute::test {

// The size of a page that the tests assume, in bytes. It is written out here, so that a wrong
// constant of the library is noticed.
inline constexpr uint64_t page = 4096;

}  // namespace scute::test

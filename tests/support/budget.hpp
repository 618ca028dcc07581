// SPDX-License-Identifier: BSD-3-Clause
// How much of an instrument a test runs: `./dev test` has a part of it; `./dev test --all` has all,
// and so has a test that is run by hand (docs/internals/testing.md).
#pragma once

#include <cstdlib>
#include <string_view>

namespace scute::test {

inline unsigned budget(unsigned everyday, unsigned whole) {
  const char* const tier = std::getenv("SCUTE_TEST_TIER");  // NOLINT(concurrency-mt-unsafe)
  return tier != nullptr && std::string_view(tier) == "everyday" ? everyday : whole;
}

}  // namespace scute::test

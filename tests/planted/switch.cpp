// SPDX-License-Identifier: BSD-3-Clause
// Switches on the planted bug that the environment names, before anything else of the program
// runs. For programs that no test can reach into: a shielded program, the processes that hold
// its views, and tests that know nothing of planted bugs (drills.sh).
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "planted/planted.hpp"

namespace {

using namespace scute::core;

[[gnu::constructor(101)]] void switch_on() {
  const char* const name = std::getenv("SCUTE_PLANT");
  if (name == nullptr || *name == 0) return;
  for (const planted::description& d : planted::all) {
    if (std::strcmp(d.name, name) != 0) continue;
    planted::active = d.which;
    return;
  }
  constexpr char unknown[] = "SCUTE_PLANT names no planted bug\n";
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, unknown, sizeof unknown - 1);
  ::_exit(97);
}

}  // namespace

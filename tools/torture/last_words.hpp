// SPDX-License-Identifier: BSD-3-Clause
// last_words.hpp: if the library ends this very process (a
// failed assertion, a wild access) or does not come back, the pool must be kept and its path
// printed all the same.
#pragma once

#include <string>

namespace scute_torture {

// Printed to stderr when a signal ends the process; the exit status is then 1.
void set_last_words(const std::string& text);

// From now on that holds, and SIGINT and SIGTERM end the run early.
void catch_signals();
bool stop_requested();

// Lets the process end if `seconds` pass without another call. 0: no limit.
void watch(unsigned seconds);

}  // namespace scute_torture

// SPDX-License-Identifier: BSD-3-Clause
// Starts a program with the runtime in front of its libraries.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>

#include "scute/shield_run.h"

namespace scute::core::supervisor {

// The path of libscute-shield.so: the one that the caller has named, or one in the folder of this
// library or of the program, or in the lib folder next to the program's folder. Throws
// failure(SCUTE_E_NOENT).
std::string find_runtime(const char* named);

// The signal settings that a program inherits from its parent.
struct signals_inherited {
  sigset_t blocked;
  struct sigaction broken_pipe;
};

// Throws failure(SCUTE_E_NOENT) if there is no such program.
pid_t launch(const char* const* argv, const scute_shield_run_options& options,
             const std::string& supervisor_name, const signals_inherited& signals);

}  // namespace scute::core::supervisor

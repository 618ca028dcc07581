// SPDX-License-Identifier: BSD-3-Clause
// Whether a pool that exists is as the caller asks.
//
// ASKED-1 An option of a new pool that is neither at its default nor true of an existing pool
//    refuses to open it (SCUTE_E_INVALID), before anything is changed. The message says the option
//    that the pool has. An option at its default asks for nothing, nor do `mode` and `preallocate`.
//
// On ASKED-1: `mode` and `preallocate` are about making a file, as the mode of open(2) is. The
// umask may have changed the one, and a repair may have punched a hole into the other.
#pragma once

#include "core/layout/engines.hpp"
#include "core/shared/state.hpp"
#include "scute/scute.h"

namespace scute::core {

// By the superblock and the geometry. goal: the engine that the opening gives the pool; null: it
// keeps its own. Another layout is SCUTE_E_LAYOUT.
void require_as_asked(const pool::state& s, const scute_options& o, const pool::engine_facts* goal);

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
// A place for the log of a pool in a simulated memory that is larger than the pool. After the pool
// there is a page that stands for the folder, and two slots for files. One word of that page maps
// names to files, so a rename is one store; a file's length is one word too. Both are durable when
// the call that changes them returns, and no sooner.
#pragma once

#include <memory>

#include "core/medium/log_paths.hpp"
#include "model/simulated_memory.hpp"

namespace scute::testing {
using namespace core;

// Null if the memory has room only for the pool. Otherwise it has simulated_place_size more bytes.
std::unique_ptr<core::medium::log_paths> place_in(model::simulated_memory& m, uint64_t pool_size);

}  // namespace scute::testing

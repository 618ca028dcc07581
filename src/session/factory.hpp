// SPDX-License-Identifier: BSD-3-Clause
// The factory of engines.
#pragma once

#include <memory>

#include "heap/heap.hpp"
#include "pool/engines.hpp"
#include "pool/state.hpp"
#include "tx/engine.hpp"

namespace scute::core {

// Makes an engine that pool/engines.cpp lists.
std::unique_ptr<tx::engine> make_engine(const pool::engine_facts& kind, pool::state& s,
                                        heap::heap& h);

}  // namespace scute::core

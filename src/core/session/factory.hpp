// SPDX-License-Identifier: BSD-3-Clause
// The factory of engines.
#pragma once

#include <memory>

#include "core/heap/heap.hpp"
#include "core/layout/engines.hpp"
#include "core/shared/state.hpp"
#include "core/tx/engine.hpp"

namespace scute::core {

// Makes an engine that core/layout/engines.cpp lists.
std::unique_ptr<tx::engine> make_engine(const pool::engine_facts& kind, pool::state& s,
                                        heap::heap& h);

}  // namespace scute::core

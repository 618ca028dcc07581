// SPDX-License-Identifier: BSD-3-Clause
// Deliberate damage, for drills: bits are inverted, bytes become noise, pages are lost, without the
// knowledge of any other code that uses the pool.
//
// INJECT-1 The same injection of a pool with the same structures hits the same places and leaves
//    the same noise: everything follows from the seed, and no library's random numbers are used.
// INJECT-2 A flip is one atomic XOR, so stores of other threads to the bytes next to it stay.
// INJECT-3 By rate, every bit of the region is hit with that probability, independently of all
//    others. Places that coincide are one injury.
// INJECT-4 A page is lost only where it can be rebuilt: nowhere in the zones of a pool without
//    parity, except pages of a log. Its loss is noted in the pool first, so that it counts after
//    closing, too.
// INJECT-5 In an engine's log only segments that count are hit, if there are any. An injury to an
//    unused segment would test nothing.
// INJECT-6 The bytes between the end of a user's file and the end of its last page are never hit or
//    reported: they exist in memory only. An injury that reaches the end of the file ends there.
// INJECT-7 Every byte of a scribble changes: a byte that equals the noise already is inverted.
#pragma once

#include <cstdint>
#include <functional>

#include "core/heap/zone_table.hpp"
#include "core/shared/state.hpp"
#include "core/tx/engine.hpp"
#include "scute/scute.h"

namespace scute::core::repair {
class page_repairer;
}

namespace scute::core::scrub {

// Tests the program's request; throws failure.
void require_sensible(const pool::state& s, const scute_injection& what);

// Returns the number of injuries. pages: makes them unreadable, and notes them as lost.
uint64_t inject(pool::state& s, heap::zone_table& zones, repair::page_repairer& pages,
                tx::engine& engine, const scute_injection& what,
                const std::function<void(uint64_t offset, uint64_t length)>& visit);

}  // namespace scute::core::scrub

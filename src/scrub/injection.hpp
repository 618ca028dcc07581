// SPDX-License-Identifier: BSD-3-Clause
// Damage on purpose, for drills: bits are inverted, bytes become noise, pages are lost, behind the
// back of everything else that works on the pool.
//
// INJECT-1 The same injection of a pool with the same structures hits the same places and leaves
//    the same noise: everything follows from the seed, and no library's random numbers are used.
// INJECT-2 A flip is one atomic XOR, so whatever other threads store beside it stays.
// INJECT-3 By rate, every bit of the region is hit with that probability, independently of all
//    others. Places that fall together are one injury.
// INJECT-4 A page is lost only where it can be rebuilt: nowhere in the zones of a pool without
//    parity. Its loss is noted in the pool first, so that it counts after closing, too. Pages of a
//    log can be rebuilt without.
// INJECT-5 Of an engine's log only segments with something that counts are hit, if there are any:
//    all else would prove nothing.
// INJECT-6 What no file has is neither hit nor reported: the bytes between the end of a user's file
//    and the end of its last page are in memory only. An injury that reaches the end of the file
//    ends there.
// INJECT-7 Every byte of a scribble changes: noise that is there already is inverted.
#pragma once

#include <cstdint>
#include <functional>

#include "heap/zone_table.hpp"
#include "pool/state.hpp"
#include "scute/scute.h"
#include "tx/engine.hpp"

namespace scute::core::repair {
class page_repairer;
}

namespace scute::core::scrub {

// Tests what a program asks for; throws failure.
void require_sensible(const pool::state& s, const scute_injection& what);

// Returns the number of injuries. pages: loses them, and notes that they are lost.
uint64_t inject(pool::state& s, heap::zone_table& zones, repair::page_repairer& pages,
                tx::engine& engine, const scute_injection& what,
                const std::function<void(uint64_t offset, uint64_t length)>& visit);

}  // namespace scute::core::scrub

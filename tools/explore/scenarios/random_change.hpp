// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "scenarios/directory.hpp"

namespace scute::explore {

// A transaction of one to six operations, sometimes aborted, that follow from `number` and from
// what the thread's directory holds. Throws errc::nospc when the pool is full; then nothing
// happened.
void change_at_random(scute::pool& p, unsigned thread, uint64_t number);

}  // namespace scute::explore

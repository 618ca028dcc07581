// SPDX-License-Identifier: BSD-3-Clause
// Waiting for running commits, for threads that read what
// they write without their locks. A thread that is put off the CPU in the middle of one may leave
// an object half written for long.
#pragma once

#include <chrono>

#include "pool/state.hpp"

namespace scute::core::pool {

// The longest wait of a thread for the commits of others.
inline constexpr auto patience = std::chrono::seconds(2);

// Waits until what every lane had decided when it was called is in place: true. False after the
// deadline, or if the medium has failed. but: a lane that is the caller's, or null. The caller has
// no stripes. (In engine logfree commits hold the columns of all that they write: to know, pass
// through their locks.)
bool let_commits_end(const state& s, const lane* but,
                     std::chrono::steady_clock::time_point deadline);

// Log-free commits hold the columns of all that they write: passing through the locks is waiting
// for them. By a thread that holds none.
void let_windows_end(state& s, uint64_t offset, uint64_t length) noexcept;

}  // namespace scute::core::pool

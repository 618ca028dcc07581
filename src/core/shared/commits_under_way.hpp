// SPDX-License-Identifier: BSD-3-Clause
// Waits for running commits, for threads that read what commits write without their locks. A thread
// that is descheduled during a commit may leave an object half written for long.
#pragma once

#include <chrono>

#include "core/shared/state.hpp"

namespace scute::core::pool {

// The longest wait of a thread for the commits of others.
inline constexpr auto patience = std::chrono::seconds(2);

// Waits until everything that the lanes had decided at the call is in place, and returns true.
// Returns false after the deadline, or if the medium has failed. but: a lane of the caller, or
// null. The caller holds no stripes. (In engine logfree commits hold the columns of all that they
// write: there, let_windows_end() waits for them.)
bool let_commits_end(const state& s, const lane* but,
                     std::chrono::steady_clock::time_point deadline);

// Log-free commits hold the columns of all that they write. So this waits for them by taking and
// releasing the locks. The calling thread holds none.
void let_windows_end(state& s, uint64_t offset, uint64_t length) noexcept;

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
// worker.hpp: the processes that get killed.
#pragma once

#include "cast.hpp"
#include "ledger.hpp"
#include "settings.hpp"

#include <sys/types.h>

#include <string>

namespace scute_torture {

// A process that opens the pool and runs every writer until it is killed or asked to stop.
pid_t start_worker(const settings& how, const std::string& path, const cast& actors, ledger& book,
                   uint64_t round);

// A process that makes pools at that path, one over the other, until it is killed.
pid_t start_creator(const settings& how, const std::string& path, ledger& book);

// Kills and reaps it. Its wait status.
int end(pid_t pid);

// Puts the number into a new pool as a sign that it was finished, and closes it.
void finish(scute::pool pool);

// Whether the pool holds the number that a creator puts into each pool that it finished.
bool finished(const scute::pool& pool);

// Whether recovery had something to do up to now: a log to replay, or fragments of log-free
// transactions to finish or to roll back.
bool ended_some(const scute::pool& pool);

}  // namespace scute_torture

// SPDX-License-Identifier: BSD-3-Clause
// mischief.hpp: what threads of a worker do besides committing, and no pool may suffer from: they
// fork children that close, write, exit or stay when their parent is killed; they end inside
// transactions; they are cancelled. And the work of the verification when no process is killed: it
// meets a lost page with all signals blocked.
#pragma once

#include "actor.hpp"
#include "dice.hpp"
#include "ledger.hpp"

#include <scute/scute.hpp>

#include <functional>

namespace scute_torture {

using namespace scute_tools;

// One piece of it. The actor is the calling thread's; step makes its next transaction. Throws
// violation. Children report their findings to the book.
void make_mischief(const scute::pool& pool, const actor& a, ledger& book, dice& d,
                   const std::function<void()>& step);

// A child that opens the pool when the worker is gone, and keeps it for a while. For the drill.
void keep_locked(const std::string& path, const scute::options& how);

// When no worker is left: every child has ended. Throws violation.
void verify_children(const ledger& book);

// The pool is at rest. Throws violation.
void meet_lost_page(const scute::pool& pool, const actor& a);

}  // namespace scute_torture

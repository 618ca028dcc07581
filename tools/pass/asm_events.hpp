// SPDX-License-Identifier: BSD-3-Clause
// asm_events.hpp: the flushes, fences and non-temporal stores
// of inline assembly, by its mnemonics and constraints.
//
// An uncertain case is an error and no guess: an address that depends on what the assembly
// computes, flushes in a loop, bytes that are written out, a flush after which the same assembly
// stores (it could not be reported in time, HOOK-1).
#pragma once

#include "event.hpp"

#include <llvm/IR/InstrTypes.h>

#include <string>

namespace scute_pass {

struct asm_reading {
  events found;
  // All of them are flushes and fences, so that they may be reported before the assembly. Otherwise
  // it stores as well.
  bool before = true;
  // It is one flush and nothing else: it need not be executed if the runtime has dealt with it.
  bool skippable = false;
  // False: nothing in it loads or stores, whatever its constraints say ("+m" is how many a flush
  // names its line).
  bool stores = true;
  // The text with a row of the table of flushes for each flush; empty if there is none.
  std::string labelled;
  // Locked instructions: what they store to, if asked for.
  llvm::SmallVector<llvm::Value*, 1> locked;
  std::string error;  // why it cannot be instrumented; empty
};

// Computations of addresses are put before the call. `want_locked`: resolve what locked
// instructions store to.
asm_reading read_asm(llvm::CallBase& call, bool want_locked);

// Whether it has a fence in it, or calls a function.
bool asm_may_fence(const llvm::CallBase& call);

// The prefix of a flush instruction in assembly: a row of the table (scute/shield_hooks.h).
std::string flush_row();

// Of assembly at file scope: the first mnemonic that would have to be instrumented; empty if there
// is none.
std::string module_asm_offence(std::string_view text);

}  // namespace scute_pass

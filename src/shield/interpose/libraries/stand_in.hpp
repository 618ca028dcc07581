// SPDX-License-Identifier: BSD-3-Clause
// The interposed functions by name, for lookups while the program runs (call_lookup.cpp).
//
// STANDIN-1 Every interposed function is in the table, by each of its names: the macros that define
//    them enter it.
// STANDIN-2 The table leads to this library's function, even if the program has another one of that
//    name.
#pragma once

namespace scute::core::interpose {

struct stand_in {
  const char* name;
  void* function;
};

// Null: nothing of that name is interposed.
const stand_in* find_stand_in(const char* name) noexcept;

}  // namespace scute::core::interpose

// STANDIN-2: the label is this file's own, so no other object's symbol takes its place.
#define SCUTE_STANDS_IN(name)                           \
  __asm__(                                              \
      ".pushsection .rodata.scute_stand_in,\"a\"\n"     \
      ".Lscute_name_of_" #name ": .string \"" #name     \
      "\"\n"                                            \
      ".popsection\n"                                   \
      ".set .Lscute_stand_in_" #name ", " #name         \
      "\n"                                              \
      ".pushsection scute_stand_ins,\"aw\",%progbits\n" \
      ".balign 8\n"                                     \
      ".quad .Lscute_name_of_" #name                    \
      "\n"                                              \
      ".quad .Lscute_stand_in_" #name                   \
      "\n"                                              \
      ".popsection\n")

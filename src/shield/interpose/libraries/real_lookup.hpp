// SPDX-License-Identifier: BSD-3-Clause
// The real dlsym(3) and dlvsym(3), of the C library.
//
// REALLOOK-1 They are found without dlsym(), which is ours, from the first call on, even one before
//    any constructor.
// REALLOOK-2 Nothing on the way to them, or to interposed functions, calls a function that a
//    program may interpose. Sanitizers look up the C library's functions by dlsym(); before they
//    have these, their own functions of those names do not work.
#pragma once

namespace scute::core::interpose::real_lookup {

using plain_lookup = void* (*)(void* handle, const char* name);
using versioned_lookup = void* (*)(void* handle, const char* name, const char* version);

plain_lookup dlsym() noexcept;
versioned_lookup dlvsym() noexcept;

// Before main(), while there is one thread (symbol_table.hpp).
void find_early() noexcept;

}  // namespace scute::core::interpose::real_lookup

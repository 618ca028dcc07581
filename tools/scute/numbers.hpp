// SPDX-License-Identifier: BSD-3-Clause
// numbers.hpp: numbers on the command line. Other text is
// refused in a few words that name it; CLI11's own conversions take -1 for 18446744073709551615 and
// 010 for 8.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>

namespace scute_tool {

// Decimal digits, from `least` to `most`.
CLI::Validator whole_number(uint64_t least = 0, uint64_t most = UINT64_MAX);

// A size, at least 1: 4096, 64K, 64KiB, 1G, in powers of 1024, as in the options of a pool.
CLI::Validator size_value();

// An offset in a file: decimal, or hexadecimal with 0x.
CLI::Validator file_offset();

// A number from 0 to 1.
CLI::Validator fraction();

}  // namespace scute_tool

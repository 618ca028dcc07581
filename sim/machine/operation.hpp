// SPDX-License-Identifier: BSD-3-Clause
// An instruction as the core sees it: registers that it waits for and makes, how long it takes, and
// what kind it is. Those of its address are apart: what loads and computes loads before the rest is
// there.
#pragma once

#include <cstdint>

namespace scute::sim {

enum class operation_kind : uint8_t {
  plain,       // whatever computes; loads and stores are its references
  stream,      // its stores are non-temporal
  locked,      // waits for the stores before it
  write_back,  // clwb: its reference is the line
  flush,       // clflush, clflushopt: the line leaves the caches
  fence,       // sfence
  full_fence,  // mfence
  load_fence,  // lfence: what follows begins when all before it has retired
};

struct operation {
  static constexpr uint8_t none = 63, registers = 64;  // register 63 is always ready
  operation_kind kind = operation_kind::plain;
  uint8_t cycles = 1;
  uint8_t from[4] = {none, none, none, none};
  uint8_t address[2] = {none, none};
  uint8_t to[2] = {none - 1, none - 1};  // register 62 is unused
};

struct reference {
  uint64_t address;
  uint32_t bytes;
  bool store;
};

}  // namespace scute::sim

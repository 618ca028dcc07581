// SPDX-License-Identifier: BSD-3-Clause
// x86-64 instructions as operations of the core. Latencies
// are those of a Skylake core, in a few classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "machine/branches.hpp"
#include "machine/operation.hpp"

namespace scute::sim {

// The address of an instruction that touches no memory as far as the emulator is concerned (clwb
// and its kin).
struct address_form {
  static constexpr uint8_t none = 255;
  uint8_t base = none, index = none;  // general registers, in the order of their encoding
  uint8_t scale = 1;
  int64_t displacement = 0;  // with rip: the whole address
};

struct decoded {
  operation op;
  address_form at;  // of write_back and flush; of others with one memory operand, for checks
  bool has_address = false;
  bool touches_memory = false;
  block_exit exit = block_exit::falls;
  bool repeats = false;  // rep movs and stos: executed once for each element
  uint16_t written = 0;  // general registers that it changes, a bit each
};

class decoder {
 public:
  decoder();
  ~decoder();
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;

  // Bytes that mean nothing become an operation that does nothing.
  decoded decode(std::span<const uint8_t> bytes, uint64_t address);

 private:
  size_t engine_;
  void* instruction_;
};

}  // namespace scute::sim

// SPDX-License-Identifier: BSD-3-Clause
// Writes down what a front end hands over, as feed/trace.hpp reads it.
#pragma once

#include <fstream>
#include <span>
#include <string>

#include "guest/marks.hpp"
#include "machine/branches.hpp"
#include "machine/operation.hpp"

namespace scute::sim {

class recorder {
 public:
  explicit recorder(const std::string& path) : out_(path) {}

  void instruction(const operation& op, std::span<const reference> refs) {
    out_ << std::dec << "i " << unsigned{static_cast<uint8_t>(op.kind)} << ' '
         << unsigned{op.cycles};
    for (const uint8_t r : op.from) out_ << ' ' << unsigned{r};
    for (const uint8_t r : op.address) out_ << ' ' << unsigned{r};
    for (const uint8_t r : op.to) out_ << ' ' << unsigned{r};
    out_ << '\n';
    for (const reference& r : refs)
      out_ << "r " << std::hex << r.address << std::dec << ' ' << r.bytes
           << (r.store ? " s\n" : " l\n");
  }
  void block(uint64_t address, const block_end& before) {
    out_ << "b " << std::hex << address << std::dec << ' '
         << unsigned{static_cast<uint8_t>(before.exit)} << ' ' << std::hex << before.address << ' '
         << before.next << '\n';
  }
  void marked(mark what, uint64_t a, uint64_t b) {
    out_ << "m " << std::dec << static_cast<uint64_t>(what) << ' ' << std::hex << a << ' ' << b
         << '\n';
  }
  // False if anything could not be written.
  bool close() {
    out_.close();
    return !out_.fail();
  }

 private:
  std::ofstream out_;
};

}  // namespace scute::sim

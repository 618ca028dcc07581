// SPDX-License-Identifier: BSD-3-Clause
#include "feed/trace.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace scute::sim {

void replay(std::istream& in, run& to) {
  operation op;
  bool waiting = false;  // an instruction whose references are not all there
  std::vector<reference> refs;
  const auto hand_over = [&] {
    if (waiting) to.execute(op, refs);
    waiting = false;
    refs.clear();
  };
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    char what = 0;
    if (!(words >> what)) continue;
    const auto fail = [&] {
      throw std::runtime_error("trace, line " + std::to_string(number) + ": " + line);
    };
    if (what == 'r') {
      reference r{};
      char way = 0;
      if (!waiting || !(words >> std::hex >> r.address >> std::dec >> r.bytes >> way) ||
          (way != 'l' && way != 's') || r.bytes == 0)
        fail();
      r.store = way == 's';
      refs.push_back(r);
      continue;
    }
    hand_over();
    if (what == 'i') {
      unsigned kind = 0, cycles = 0, registers[8] = {};
      if (!(words >> kind >> cycles) || kind > static_cast<unsigned>(operation_kind::load_fence) ||
          cycles > UINT8_MAX)
        fail();
      for (unsigned& r : registers)
        if (!(words >> r) || r >= operation::registers) fail();
      op.kind = static_cast<operation_kind>(kind);
      op.cycles = static_cast<uint8_t>(cycles);
      for (int i = 0; i < 4; ++i) op.from[i] = static_cast<uint8_t>(registers[i]);
      for (int i = 0; i < 2; ++i) op.address[i] = static_cast<uint8_t>(registers[4 + i]);
      for (int i = 0; i < 2; ++i) op.to[i] = static_cast<uint8_t>(registers[6 + i]);
      waiting = true;
    } else if (what == 'b') {
      uint64_t address = 0;
      unsigned exit = 0;
      block_end before;
      if (!(words >> std::hex >> address >> std::dec >> exit >> std::hex >> before.address >>
            before.next) ||
          exit > static_cast<unsigned>(block_exit::returns))
        fail();
      before.exit = static_cast<block_exit>(exit);
      to.enter_block(address, before);
    } else if (what == 'm') {
      uint64_t mark_number = 0, a = 0, b = 0;
      if (!(words >> mark_number >> std::hex >> a >> b) || mark_number == 0 ||
          mark_number > static_cast<uint64_t>(mark::counted))
        fail();
      to.take(static_cast<mark>(mark_number), a, b);
    } else {
      fail();
    }
  }
  hand_over();
}

}  // namespace scute::sim

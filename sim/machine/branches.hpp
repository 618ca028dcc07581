// SPDX-License-Identifier: BSD-3-Clause
// What a core foresees of the way that a program takes: directions of conditional branches (TAGE: a table by address, and
// tagged ones by ever more of the history), targets of indirect ones (likewise), and returns (a stack). Targets of
// direct branches are always known: there is no table of targets that could be too small.
//
// BRANCH-1 What is foreseen comes from the branches before alone, never from the one that is asked about.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace scute::sim {

// How the instruction that ends a block goes on.
enum class block_exit : uint8_t {
  falls,  // to the next one, or back to itself (repeated string instructions), or into the system
  branches,      // to the next one, or elsewhere
  jumps,         // elsewhere, always to the same place
  calls,         // likewise, and comes back behind itself
  jumps_widely,  // to an address from a register or memory
  calls_widely,
  returns,
};

// The last instruction of a block.
struct block_end {
  uint64_t address = 0;
  uint64_t next = 0;  // behind it
  block_exit exit = block_exit::falls;
};

class branches {
 public:
  branches();

  // The block ended so, and the program went on there. Whether that was foreseen.
  bool foresees(const block_end& end, uint64_t target);

 private:
  static constexpr unsigned tables = 6, table_bits = 10, tag_bits = 11, base_bits = 13,
                            wide_tables = 3, wide_bits = 9, returns_max = 32, history_max = 256;
  static constexpr std::array<unsigned, tables> lengths = {4, 9, 18, 38, 80, 160};
  static constexpr std::array<unsigned, wide_tables> wide_lengths = {2, 10, 36};

  // The last `length` outcomes, folded to `bits`.
  struct folded {
    uint32_t value = 0;
    unsigned length = 0, bits = 0;
    void add(bool fresh, bool old) noexcept;
  };
  struct direction {
    uint16_t tag = 0;
    int8_t counter = 0;  // -4 to 3; taken from 0 on
    uint8_t useful = 0;
  };
  struct target_entry {
    uint64_t tag = UINT64_MAX, target = 0;
    uint8_t sure = 0;
  };

  bool predict(uint64_t address, bool taken);
  bool predict_wide(uint64_t address, uint64_t target);
  void remember(bool outcome) noexcept;
  uint32_t index_of(uint64_t address, unsigned table) const noexcept;
  uint16_t tag_of(uint64_t address, unsigned table) const noexcept;

  std::vector<int8_t> base_;  // -2 to 1
  std::array<std::vector<direction>, tables> tagged_;
  std::array<folded, tables> to_index_, to_tag_, to_tag_short_;
  std::array<std::vector<target_entry>, wide_tables> wide_;
  std::vector<target_entry> wide_base_;
  std::array<folded, wide_tables> to_wide_;
  std::array<uint64_t, returns_max> returns_{};
  unsigned returns_next_ = 0;
  std::array<uint8_t, history_max> history_{};
  unsigned history_next_ = 0;
  uint32_t age_ = 0, choice_ = 1;
};

}  // namespace scute::sim

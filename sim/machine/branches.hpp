// SPDX-License-Identifier: BSD-3-Clause
// Branch prediction of a core: directions of conditional branches (TAGE: a table by address, and
// tagged ones by ever more of the history), targets of indirect ones (likewise), and returns (a
// stack). Targets of direct branches are always known: there is no table of targets that could be
// too small.
//
// BRANCH-1 A prediction depends on earlier branches alone, never on the outcome of the predicted
//          branch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace scute::sim {

// Where the instruction that ends a block continues.
enum class block_exit : uint8_t {
  falls,  // to the next one, or back to itself (repeated string instructions), or into the system
  branches,      // to the next one, or elsewhere
  jumps,         // elsewhere, always to the same place
  calls,         // likewise, and returns to the instruction after itself
  jumps_widely,  // to an address from a register or memory
  calls_widely,
  returns,
};

// The last instruction of a block.
struct block_end {
  uint64_t address = 0;
  uint64_t next = 0;  // of the instruction after it
  block_exit exit = block_exit::falls;
};

class branches {
 public:
  branches();

  // Returns whether it was foreseen that the block ended so, and that the program continued there.
  bool foresees(const block_end& end, uint64_t target) {
    return end.exit == block_exit::falls || end.exit == block_exit::jumps ||
           foresees_other(end, target);
  }

 private:
  static constexpr unsigned tables = 6, table_bits = 10, tag_bits = 11, base_bits = 13,
                            wide_tables = 3, wide_bits = 9, returns_max = 32;
  static constexpr std::array<unsigned, tables> lengths = {4, 9, 18, 38, 80, 160};
  static constexpr std::array<unsigned, wide_tables> wide_lengths = {2, 10, 36};

  // The last `length` outcomes, folded to a number of bits.
  struct folded {
    uint32_t value = 0;
    unsigned bits = 0, oldest = 0;  // where the outcome that leaves is
    void add(uint64_t fresh, uint64_t old) noexcept;
  };
  // The history that one table uses of its outcomes, folded to 10, 11 and 10 bits: three lanes of a
  // word, computed together.
  struct lanes {
    uint64_t value = 0, oldest = 0;
    void add(uint64_t fresh, uint64_t old) noexcept;
    uint32_t index() const noexcept { return static_cast<uint32_t>(value) & 0xffff; }
    uint32_t tag() const noexcept { return static_cast<uint32_t>(value >> 16) & 0xffff; }
    uint32_t short_tag() const noexcept { return static_cast<uint32_t>(value >> 32); }
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

  bool foresees_other(const block_end& end, uint64_t target);
  bool predict(uint64_t address, bool taken);
  // Gives a branch that was not foreseen a place with more history.
  void place(const std::array<direction*, tables>& at, const std::array<uint16_t, tables>& tags,
             unsigned first, bool taken) noexcept;
  bool predict_wide(uint64_t address, uint64_t target);
  void remember(bool outcome) noexcept;

  std::vector<int8_t> base_;       // -2 to 1
  std::vector<direction> tagged_;  // of one table after the other
  std::array<lanes, tables> folds_;
  std::array<std::vector<target_entry>, wide_tables> wide_;
  std::vector<target_entry> wide_base_;
  std::array<folded, wide_tables> to_wide_;
  std::array<uint64_t, returns_max> returns_{};
  unsigned returns_next_ = 0;
  std::array<uint64_t, 3> history_{};  // a bit per outcome, the last one first
  uint32_t age_ = 0, choice_ = 1;
};

}  // namespace scute::sim

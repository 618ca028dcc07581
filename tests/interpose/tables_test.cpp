// SPDX-License-Identifier: BSD-3-Clause
// The table of mappings against a model, lines that are masked, and flush instructions in code
// (MAPS-1, FLUSHER-1, SCAN-3).
#include <gtest/gtest.h>

#include <link.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/stores/flush_scan.hpp"
#include "shield/interpose/stores/instruction.hpp"
#include "shield/interpose/stores/unflushed_lines.hpp"

using namespace scute::core::interpose;

namespace {

guarded_file* file_number(uintptr_t n) {
  return reinterpret_cast<guarded_file*>(n * 4096);  // never dereferenced
}

TEST(mapping_table, AgreesWithAModel) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto table = std::make_unique<mapping_table>();
  std::map<uintptr_t, std::pair<guarded_file*, uint64_t>> model;  // by page
  constexpr uintptr_t page = 4096, pages = 200;
  for (int step = 0; step < 3000; ++step) {
    const uintptr_t first = random() % pages + 16, n = random() % 20 + 1;
    int pieces = 0;
    table->cut_out(first * page, (first + n) * page,
                   [&](guarded_file&, int change) { pieces += change; });
    for (uintptr_t p = first; p < first + n; ++p) model.erase(p);
    if (random() % 2 == 0 && table->has_room()) {
      const uint64_t offset = random() % 1000 * page;
      guarded_file* const file = file_number(random() % 3 + 1);
      table->add({first * page, (first + n) * page, file, offset});
      for (uintptr_t p = first; p < first + n; ++p) model[p] = {file, offset + (p - first) * page};
    }
    for (uintptr_t p = 10; p < pages + 40; ++p) {
      const mapped_range found = table->find(p * page + 17);
      const auto wanted = model.find(p);
      ASSERT_EQ(found.file, wanted == model.end() ? nullptr : wanted->second.first);
      if (found.file != nullptr) {
        ASSERT_EQ(found.offset_of(p * page + 17), wanted->second.second + 17);
      }
    }
    ASSERT_EQ(table->empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(table->lowest(), model.begin()->first * page);
      ASSERT_EQ(table->highest(), (model.rbegin()->first + 1) * page);
    }
  }
}

TEST(unflushed_lines, CountsMaskedOnesApart) {
  const auto lines = std::make_unique<unflushed_lines>();
  lines->mask(100, 64);  // reaches into two
  lines->mask(100, 64);
  EXPECT_TRUE(lines->left(64, 64, scute::core::view::left_as::never_flushed));
  EXPECT_TRUE(lines->left(128, 64, scute::core::view::left_as::never_flushed));
  EXPECT_FALSE(lines->left(192, 64, scute::core::view::left_as::never_flushed));
  lines->begin(nullptr, nullptr);
  EXPECT_FALSE(lines->left(64, 64, scute::core::view::left_as::never_flushed));
}

struct instruction {
  std::array<uint8_t, 12> bytes;
  size_t length;
};

TEST(instructions, HaveTheirLengths) {
  constexpr instruction known[] = {
      {{0x90}, 1},
      {{0x48, 0x89, 0xe5}, 3},
      {{0x48, 0x8b, 0x84, 0x24, 1, 2, 3, 4}, 8},
      {{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, 10},
      {{0xf7, 0xc1, 1, 2, 3, 4}, 6},
      {{0xf7, 0xd9}, 2},
      {{0x66, 0x81, 0xc1, 1, 2}, 5},
      {{0x0f, 0x84, 1, 2, 3, 4}, 6},
      {{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8}, 6},
      {{0xc5, 0xf8, 0x77}, 3},
      {{0xc4, 0xe2, 0x7d, 0x18, 0x05, 1, 2, 3, 4}, 9},
      {{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x06}, 6},
      {{0xf3, 0x0f, 0x1e, 0xfa}, 4},
      {{0x0f, 0xae, 0x3f}, 3},
      {{0x66, 0x0f, 0xae, 0x74, 0x24, 0x10}, 6},
      {{0x0f, 0xae, 0xf8}, 3},
      {{0x8b, 0x04, 0x25, 1, 2, 3, 4}, 7},
  };
  for (const instruction& one : known)
    EXPECT_EQ(instruction_length(one.bytes), one.length)
        << std::hex << unsigned{one.bytes[0]} << unsigned{one.bytes[1]};
  EXPECT_EQ(instruction_length(std::array<uint8_t, 2>{0x48, 0x8b}), 0U);  // cut off
  EXPECT_EQ(instruction_length(std::array<uint8_t, 1>{0x06}), 0U);        // none in 64-bit code
}

TEST(flush_scan, FindsFlushesWhereInstructionsBegin) {
  std::vector<uint8_t> code(200, 0x90);
  EXPECT_EQ(find_flush(code, 0), code.size());
  const std::array<uint8_t, 4> clwb{0x66, 0x0f, 0xae, 0x30};
  std::copy(clwb.begin(), clwb.end(), code.begin() + 120);
  EXPECT_EQ(find_flush(code, 0), 120U);
  EXPECT_EQ(find_flush(code, 124), code.size());
  // sfence, xsave and clflush inside of a constant are none.
  code.assign(200, 0x90);
  const std::array<uint8_t, 3> sfence{0x0f, 0xae, 0xf8}, xsave{0x0f, 0xae, 0x20};
  const std::array<uint8_t, 10> constant{0x48, 0xb8, 0x0f, 0xae, 0x38, 1, 2, 3, 4, 5};
  std::copy(sfence.begin(), sfence.end(), code.begin() + 100);
  std::copy(xsave.begin(), xsave.end(), code.begin() + 110);
  std::copy(constant.begin(), constant.end(), code.begin() + 130);
  EXPECT_EQ(find_flush(code, 0), code.size());
}

}  // namespace

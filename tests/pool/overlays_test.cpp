// SPDX-License-Identifier: BSD-3-Clause
// Which bytes are open in place or lent to a log, held against a list of ranges: the counters that
// answer without a lock never deny what is there, pages that share one included.
#include "core/shared/parity/overlays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/seed.hpp"

namespace scute::test {
using core::pool::overlays;
namespace {

struct range {
  uint64_t offset, length;
  uint32_t lane;  // overlays::no_lane: lent
  bool meets(uint64_t at, uint64_t n) const { return offset < at + n && at < offset + length; }
};

TEST(overlays, AnswerAsAListOfRangesDoes) {
  SCUTE_RANDOM(random);
  const auto all = std::make_unique<overlays>();
  std::vector<range> model;
  const std::byte old[1]{};
  // Pages that are 512 apart share a counter, and so do spans of 64 KiB that are 4096 apart.
  const auto any_offset = [&] {
    return random.between(0, 2) * (uint64_t{4096} * 65536) + random.between(0, 2) * 512 * 4096 +
           random.between(0, 20 * 4096);
  };
  uint64_t open = 0, lent = 0, none = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t at = any_offset(), n = random.between(1, 9000);
    const auto meets = [&](const range& r) { return r.meets(at, n); };
    const bool is_free = std::ranges::none_of(model, meets);
    if (is_free && model.size() < 12) {
      const uint32_t lane = random.between(0, 1) == 0 ? overlays::no_lane
                                                      : static_cast<uint32_t>(random.between(0, 2));
      all->add(at, n, lane == overlays::no_lane ? nullptr : old, lane);
      model.push_back({at, n, lane});
    } else if (!model.empty()) {
      const auto gone = model.begin() + static_cast<ptrdiff_t>(random.between(0, model.size() - 1));
      const uint64_t before = all->revision(gone->offset, gone->length);
      all->remove(gone->offset);
      EXPECT_EQ(all->revision(gone->offset, gone->length) != before,
                gone->lane != overlays::no_lane);
      model.erase(gone);
    }
    const uint64_t from = any_offset(), length = random.between(1, 9000);
    bool touches = false, elsewhere = false, by = false;
    for (const range& r : model) {
      if (r.meets(from, 1) && r.lane == 1) by = true;
      if (!r.meets(from, length)) continue;
      touches = true;
      elsewhere = elsewhere || (r.lane != overlays::no_lane && r.lane != 1);
      ++(r.lane == overlays::no_lane ? lent : open);
    }
    none += touches ? 0 : 1;
    EXPECT_EQ(all->touches(from, length), touches);
    EXPECT_EQ(all->open_elsewhere(from, length, 1), elsewhere);
    EXPECT_EQ(all->open_by(from, 1), by);
  }
  EXPECT_GT(std::min({open, lent, none}), 100u);  // each was asked for
}

}  // namespace
}  // namespace scute::test
